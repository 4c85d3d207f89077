// Losses: each ends in one number.
//
// The loss at the end of a model, linear_cross_entropy, is a product and a cross entropy. Apart
// they hold the logits y (N, V) and their gradient dy, twice the largest array of many a model. But
// the loss and dy = softmax(y) - p are both known as soon as a row of y is, so dy takes its place,
// and backward only multiplies: dx = dy w and dw = dyᵀ x, of which the cotangent of the loss, one
// number, is a factor.
//
// Rows are visited in chunks of so many logits at most; the last chunk's dy waits for backward,
// which computes the others anew, in the same memory. One chunk, the usual case, costs three
// products of 2 N V I operations, as if the logits were kept; many cost four, and read w and write
// dw once for each. In float32, on one core; memory of logits and their gradients:
//
//   N       V       I    apart             one chunk         2²⁴ logits at once
//   256     50,257  768  505 ms   103 MB   493 ms    51 MB   (one chunk)
//   2,048   50,257  768                    3.4 s    412 MB   5.2 s    59 MB
//   16,384  8,000   512                    2.8 s    524 MB   3.9 s    66 MB
//
// A quarter of the first one's rows at once: 875 ms, 13 MB. So chunks are as large as may be.
// Multiplying at once, in forward, as Liger Kernel does (Hsu et al. 2024, arXiv:2410.10989), would
// need no product twice, but until backward an array for dw of V · I numbers: 154 MB in the first.
#include "core/kernels/loss.h"

#include <algorithm>

#include "core/autograd.h"
#include "core/kernels/arithmetic.h"
#include "core/kernels/gemm/gemm.h"
#include "core/kernels/reduce.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL {
namespace {

kernels::TargetShares shares_of(const char* name, const LabelSmoothing& smoothing,
                                int64_t classes) {
  const double epsilon = smoothing.epsilon;
  check(epsilon >= 0 && epsilon <= 1, "{}: a label smoothing of {}, must be in [0, 1]", name,
        epsilon);
  if (epsilon == 0) return {1, 0, -1};
  if (smoothing.over == Smoothing::vocabulary) {
    const double share = epsilon / static_cast<double>(classes);
    return {1 - epsilon + share, share, -1};
  }
  const bool all = smoothing.over == Smoothing::others;
  check(all || (smoothing.impossible >= 0 && smoothing.impossible < classes),
        "{}: smoothing over possible_others must be told which class of [0, {}) is never "
        "a target, got {}",
        name, classes, smoothing.impossible);
  const int64_t sharing = classes - (all ? 1 : 2);
  check(sharing >= 1, "{}: of {} classes none is left to share a label smoothing of {}", name,
        classes, epsilon);
  return {1 - epsilon, epsilon / static_cast<double>(sharing), all ? -1 : smoothing.impossible};
}

void check_targets(const char* name, const Ids& targets, int64_t classes, int32_t never) {
  const int32_t* target = targets.data();
  for (int64_t i = 0; i < targets.size(); ++i) {
    check((target[i] >= 0 && target[i] < classes) || target[i] == ignored,
          "{}: target {} at position {} of {} is neither in [0, {}) nor {} (ignored)", name,
          target[i], i, targets.shape(), classes, ignored);
    check(target[i] != never || target[i] == ignored,
          "{}: target {} at position {} of {} is the class that is never a target; where "
          "it must not count, make it {} (ignored)",
          name, target[i], i, targets.shape(), ignored);
  }
}

}  // namespace

// -Σₙ Σᵥ p(n, v) log softmax(logits)[n, v]
Tensor cross_entropy(const Tensor& logits, const Ids& targets, const LabelSmoothing& smoothing) {
  const Shape& shape = logits.shape();
  check(shape.rank() >= 1 && targets.shape() == shape.without(-1),
        "cross_entropy: logits {} need targets of the same shape without the last axis, got {}",
        shape, targets.shape());
  const kernels::CrossEntropySizes n{targets.size(), shape[-1], ignored};
  const kernels::TargetShares p = shares_of("cross_entropy", smoothing, n.classes);
  check_targets("cross_entropy", targets, n.classes, p.never);
  Tensor gradient = wants_gradient(logits) ? Tensor::empty(shape) : Tensor();
  const Tensor loss = Tensor::scalar(static_cast<real>(kernels::cross_entropy(
      n, p, logits.data(), targets.data(), gradient ? gradient.mutable_data() : nullptr)));
  return record("cross_entropy", loss, {logits}, [gradient](Backward& g) {
    // dlogits += dy · (softmax(logits) - p), 0 in rows that are ignored
    kernels::scale(gradient.size(), gradient.data(), *g.dy(), g.into(0));
  });
}

namespace {

using kernels::gemm;
using kernels::Matrix;

// Where those of a last layer go; null where they are not wanted.
struct Gradients {
  Destination x, w, b;
};

// The last layer of a model, y = x wᵀ + b, and the loss of `height` rows of it at a time: x (rows,
// inputs), w (classes, inputs), b (classes) or null.
struct LastLayer {
  int64_t rows, inputs, classes, height;
  kernels::TargetShares p;
  Ids targets;

  int64_t chunks() const { return height == 0 ? 1 : (rows + height - 1) / height; }
  int64_t first(int64_t chunk) const { return chunk * height; }
  int64_t rows_of(int64_t chunk) const { return std::min(height, rows - first(chunk)); }

  // The loss of a chunk; in `dy` (rows_of(chunk), classes) it leaves softmax(y) - p.
  double loss(int64_t chunk, const real* x, const real* w, const real* b, real* dy) const {
    const int64_t n = rows_of(chunk);
    gemm({x + first(chunk) * inputs, n, inputs}, Matrix(w, classes, inputs).t(), {dy, false}, 0, 1,
         b);
    return kernels::cross_entropy({n, classes, ignored}, p, dy, targets.data() + first(chunk), dy);
  }

  // Adds the gradients that come of a chunk, `dloss` times its dy. The last one comes first, and
  // the gradient of x, of which a chunk writes some rows, after those it writes whole: so that even
  // tensors that share their gradients get the sum of them.
  void multiply(int64_t chunk, real dloss, const real* dy, const real* x, const real* w,
                const Gradients& to) const {
    const int64_t n = rows_of(chunk), at = first(chunk) * inputs;
    const bool add = chunk + 1 < chunks();
    if (to.w.data)  // dw += dloss · dyᵀ x
      gemm(Matrix(dy, n, classes).t(), {x + at, n, inputs}, {to.w.data, to.w.accumulate || add}, 0,
           dloss);
    if (to.b.data) {  // db += dloss · Σₙ dy
      Tensor sums = Tensor::empty({classes});
      kernels::sum_to(dy, {n, classes}, {classes}, {sums.mutable_data(), false});
      kernels::scale(classes, sums.data(), dloss, {to.b.data, to.b.accumulate || add});
    }
    if (to.x.data)  // dx += dloss · dy w
      gemm({dy, n, classes}, {w, classes, inputs}, {to.x.data + at, to.x.accumulate}, 0, dloss);
  }
};

// As few chunks as the limit allows, all about as high.
int64_t height_of(int64_t rows, int64_t classes, int64_t at_once) {
  const int64_t most = std::max<int64_t>(1, at_once / std::max<int64_t>(1, classes));
  const int64_t chunks = std::max<int64_t>(1, (rows + most - 1) / most);
  return (rows + chunks - 1) / chunks;
}

}  // namespace

// cross_entropy(linear(x, w, b), targets)
Tensor linear_cross_entropy(const Tensor& x, const Tensor& w, const Tensor& b, const Ids& targets,
                            const LabelSmoothing& smoothing, int64_t at_once) {
  check(w.rank() == 2 && x.rank() >= 1 && x.dim(-1) == w.dim(1) &&
            (!b || b.shape() == Shape{w.dim(0)}),
        "linear_cross_entropy: x {}, w {} and b {} must be (…, I), (V, I) and (V)", x.shape(),
        w.shape(), b ? b.shape() : Shape{});
  check(targets.shape() == x.shape().without(-1),
        "linear_cross_entropy: x {} needs targets of the same shape without the last axis, got {}",
        x.shape(), targets.shape());
  const int64_t classes = w.dim(0), rows = targets.size();
  const LastLayer layer{rows,
                        w.dim(1),
                        classes,
                        height_of(rows, classes, at_once),
                        shares_of("linear_cross_entropy", smoothing, classes),
                        targets};
  check_targets("linear_cross_entropy", targets, classes, layer.p.never);
  Tensor logits = Tensor::empty({layer.height, classes});
  double total = 0;
  for (int64_t i = 0; i < layer.chunks(); ++i)
    total += layer.loss(i, x.data(), w.data(), b ? b.data() : nullptr, logits.mutable_data());
  // Where nothing is computed anew, x is read for dw alone, and w for dx.
  const bool again = layer.chunks() > 1;
  return record("linear_cross_entropy", Tensor::scalar(static_cast<real>(total)), {x, w, b},
                [layer, logits, xs = again ? saved(x, x, w, b) : saved(x, w),
                 ws = again ? saved(w, x, w, b) : saved(w, x),
                 bs = again && b ? saved(b, x, w, b) : Saved()](Backward& g) mutable {
                  const int64_t last = layer.chunks() - 1;
                  const Destination none{nullptr, false};
                  Gradients to;
                  to.w = g.wants(1) ? g.into(1) : none;
                  to.b = g.wants(2) ? g.into(2) : none;
                  to.x = g.wants(0) ? g.into(0) : none;
                  real* dy = logits.mutable_data();
                  for (int64_t i = last; i >= 0; --i) {
                    if (i < last) layer.loss(i, xs.data(), ws.data(), bs ? bs.data() : nullptr, dy);
                    layer.multiply(i, *g.dy(), dy, xs ? xs.data() : nullptr,
                                   ws ? ws.data() : nullptr, to);
                  }
                });
}

// Σ (x - y)² / n
Tensor mse_loss(const Tensor& x, const Tensor& y) {
  check(x.shape() == y.shape(), "mse_loss: shapes {} and {} differ", x.shape(), y.shape());
  check(x.size() > 0, "mse_loss: there is no mean of no numbers, in shape {}", x.shape());
  const auto n = static_cast<double>(x.size());
  Tensor loss = Tensor::scalar(
      static_cast<real>(kernels::squared_distance(x.size(), x.data(), y.data()) / n));
  return record("mse_loss", loss, {x, y},
                [n, xs = saved(x, x, y), ys = saved(y, x, y)](Backward& g) {
                  const real factor = static_cast<real>(2 / n) * *g.dy();
                  const auto add = [&](int i, real sign) {
                    kernels::scaled_difference(xs.shape().size(), sign * factor, xs.data(),
                                               ys.data(), g.into(i));
                  };
                  if (g.wants(0)) add(0, 1);   // dx += dy · 2 (x - y) / n
                  if (g.wants(1)) add(1, -1);  // dy -= the same
                });
}

}  // namespace heed::inline HEED_REAL
