// Cross entropy of a linear layer, without storing the logits of all rows and their gradient:
//
//   y = x wᵀ + b                                      x (N, I), w (vocab, I), b (vocab), y (N,
//   vocab) loss = -Σₙ Σᵥ p(n, v) log softmax(y)[n, v] dy = softmax(y) - p,  dx = dy w,  dw = dyᵀ x,
//   db = Σₙ dy[n]       each times ∂/∂loss
//
// Two separate ops hold y and dy, twice the largest array of many a model. But dy is known as soon
// as a row of y is, so here it overwrites y, and backward only multiplies.
//
// Rows are processed in chunks of a limited number of logits. Forward keeps dy of the last chunk;
// backward computes those of the others again, in the same memory. One chunk, the usual case, takes
// three matrix products of 2 N vocab I FLOPs, as two separate ops do. Several chunks take four, and
// read w and write dw once a chunk, so chunks should be as large as memory permits. Computing the
// gradients in forward, as Liger Kernel does (Hsu et al. 2024, arXiv:2410.10989), would save the
// fourth product, but hold dw, vocab · I elements, until backward.
#include <algorithm>

#include "core/autograd.h"
#include "core/kernels/gemm/view.h"
#include "core/kernels/kernels.h"
#include "core/kernels/scratch.h"
#include "core/ops/fused.h"
#include "core/ops/loss.h"

namespace heed::inline HEED_REAL {
namespace {

using kernels::gemm_parallel;
using kernels::MatrixView;
using kernels::Scratch;

// Returns how many of the rows one chunk takes: as many as `max_logits` permits, in chunks of about
// equal size.
int64_t chunk_rows_for(int64_t rows, int64_t classes, int64_t max_logits) {
  const int64_t limit = std::max<int64_t>(1, max_logits / std::max<int64_t>(1, classes));
  const int64_t chunks = std::max<int64_t>(1, (rows + limit - 1) / limit);
  return (rows + chunks - 1) / chunks;
}

// The linear layer and its targets.
struct Classifier {
  int64_t rows, inputs, classes, chunk_rows;
  kernels::TargetDistribution p;
  const real *x, *w, *b;   // b may be null
  const int32_t* targets;  // (N)

  int64_t chunks() const { return chunk_rows == 0 ? 1 : (rows + chunk_rows - 1) / chunk_rows; }
  int64_t first_row(int64_t chunk) const { return chunk * chunk_rows; }
  int64_t rows_of(int64_t chunk) const { return std::min(chunk_rows, rows - first_row(chunk)); }
  MatrixView x_of(int64_t chunk) const {
    return {x + first_row(chunk) * inputs, rows_of(chunk), inputs};
  }

  // Returns the loss of a chunk and leaves softmax(y) - p in `dy`. `losses` (N) receives the loss
  // of each row unless it is null.
  double loss(int64_t chunk, real* dy, real* losses) const {
    const int64_t first = first_row(chunk);
    gemm_parallel(x_of(chunk), MatrixView(w, classes, inputs).t(), {dy, false}, {.bias = b});
    return kernels::cross_entropy({rows_of(chunk), classes, ignored}, p, dy, targets + first, dy,
                                  losses ? losses + first : nullptr);
  }

  // Adds the gradients of a chunk, d_loss times those of the sum; dx has its own rows. dx comes
  // last, so that the gradients also add up where x and w are one tensor. With one chunk x is read
  // only for dw, and w only for dx; otherwise they may be null.
  void backward(int64_t chunk, real d_loss, const real* dy, Destination dx, Destination dw,
                Destination db) const {
    const MatrixView d(dy, rows_of(chunk), classes);
    if (dw.data) gemm_parallel(d.t(), x_of(chunk), dw, {.scale = d_loss});  // dw += d_loss · dyᵀ x
    if (db.data) {  // db += d_loss · Σₙ dy
      const Scratch sums(classes);
      kernels::sum_to(dy, {d.rows, classes}, {classes}, {sums.data(), false});
      kernels::scale(classes, sums.data(), d_loss, db);
    }
    if (dx.data)  // dx += d_loss · dy w
      gemm_parallel(d, {w, classes, inputs}, {dx.data + first_row(chunk) * inputs, dx.accumulate},
                    {.scale = d_loss});
  }
};

}  // namespace

Tensor fused::linear_cross_entropy(const Tensor& x, const Tensor& w, const Tensor& b,
                                   const Ids& targets, Reduction reduction,
                                   const LabelSmoothing& smoothing, int64_t at_once) {
  const int64_t rows = targets.size(), classes = w.dim(0);
  const Classifier layer{
      .rows = rows,
      .inputs = w.dim(1),
      .classes = classes,
      .chunk_rows = chunk_rows_for(rows, classes, at_once),
      .p = detail::target_distribution("linear_cross_entropy", smoothing, classes),
      .x = x.data(),
      .w = w.data(),
      .b = b ? b.data() : nullptr,
      .targets = targets.data()};
  Tensor dlogits = Tensor::empty({layer.chunk_rows, classes});  // of the last chunk
  Tensor losses = reduction == Reduction::none ? Tensor::empty(targets.shape()) : Tensor();
  double sum = 0;
  for (int64_t i = 0; i < layer.chunks(); ++i)
    sum += layer.loss(i, dlogits.mutable_data(), losses ? losses.mutable_data() : nullptr);
  const bool each = static_cast<bool>(losses);
  const real count = detail::divisor(reduction, targets);
  const Tensor loss = each ? std::move(losses) : Tensor::scalar(static_cast<real>(sum / count));
  // With several chunks backward computes logits again, from x, w and b.
  const bool again = layer.chunk_rows < rows;
  return record(
      "linear_cross_entropy", loss, {x, w, b},
      [n = layer, targets = Unchanged(targets), again, each, count, dlogits,
       xs = again ? saved(x, x, w, b) : saved(x, w), ws = again ? saved(w, x, w, b) : saved(w, x),
       bs = again && b ? saved(b, x, w, b) : Saved()](Backward& g) mutable {
        Destination dw = g.into_or_null(1), db = g.into_or_null(2);
        const Destination dx = g.into_or_null(0);
        n.x = xs.data(), n.w = ws.data(), n.b = bs.data();
        n.targets = again ? targets->data() : nullptr;
        real* const dy = dlogits.mutable_data();
        const int64_t last = n.chunks() - 1;
        for (int64_t i = last; i >= 0; --i) {  // the last chunk's dy is still there
          if (i < last) n.loss(i, dy, nullptr);
          if (each)  // dlogitsₙ = dlossₙ · (softmax - p)ₙ
            kernels::scale_rows({n.rows_of(i), n.classes}, g.dy() + n.first_row(i), dy,
                                {dy, false});
          n.backward(i, each ? 1 : *g.dy() / count, dy, dx, dw, db);
          dw.accumulate = db.accumulate = true;
        }
      });
}

}  // namespace heed::inline HEED_REAL
