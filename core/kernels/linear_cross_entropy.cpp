#include "core/kernels/linear_cross_entropy.h"

#include <algorithm>

#include "core/autograd.h"
#include "core/kernels/gemm/gemm.h"
#include "core/kernels/scratch.h"
#include "core/ops/fused.h"
#include "core/ops/loss.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

// Rows [first, first + rows).
struct Chunk {
  int64_t first, rows;
};

int64_t chunk_count(const LinearCrossEntropy& n) {
  return n.chunk_rows == 0 ? 1 : (n.rows + n.chunk_rows - 1) / n.chunk_rows;
}

Chunk chunk(const LinearCrossEntropy& n, int64_t i) {
  const int64_t first = i * n.chunk_rows;
  return {first, std::min(n.chunk_rows, n.rows - first)};
}

// Returns the loss of a chunk and leaves softmax(y) - p in `dy`.
double chunk_forward(const LinearCrossEntropy& n, const Chunk& c,
                     const LinearCrossEntropyInputs& in, real* dy, real* losses) {
  gemm({in.x + c.first * n.inputs, c.rows, n.inputs}, Matrix(in.w, n.classes, n.inputs).t(),
       {dy, false}, {.bias = in.b});
  return cross_entropy({c.rows, n.classes, n.ignored}, n.p, dy, in.targets + c.first, dy,
                       losses ? losses + c.first : nullptr);
}

// dw and db accumulate from the second chunk on; of dx a chunk has its own rows. dx comes last, so
// that the gradients also add up where x and w are one tensor.
void chunk_backward(const LinearCrossEntropy& n, const Chunk& c, const LinearCrossEntropyInputs& in,
                    real d_loss, const real* dy, const LinearGradients& to) {
  const Matrix d(dy, c.rows, n.classes);
  const int64_t at = c.first * n.inputs;
  if (to.dw.data)  // dw += d_loss · dyᵀ x
    gemm(d.t(), {in.x + at, c.rows, n.inputs}, to.dw, {.scale = d_loss});
  if (to.db.data) {  // db += d_loss · Σₙ dy
    const Scratch sums(n.classes);
    sum_to(dy, {c.rows, n.classes}, {n.classes}, {sums.data(), false});
    scale(n.classes, sums.data(), d_loss, to.db);
  }
  if (to.dx.data)  // dx += d_loss · dy w
    gemm(d, {in.w, n.classes, n.inputs}, {to.dx.data + at, to.dx.accumulate}, {.scale = d_loss});
}

}  // namespace

int64_t chunk_rows_for(int64_t rows, int64_t classes, int64_t max_logits) {
  const int64_t limit = std::max<int64_t>(1, max_logits / std::max<int64_t>(1, classes));
  const int64_t chunks = std::max<int64_t>(1, (rows + limit - 1) / limit);
  return (rows + chunks - 1) / chunks;
}

double linear_cross_entropy_forward(const LinearCrossEntropy& n, const LinearCrossEntropyInputs& in,
                                    real* dy, real* losses) {
  double loss = 0;
  for (int64_t i = 0; i < chunk_count(n); ++i)
    loss += chunk_forward(n, chunk(n, i), in, dy, losses);
  return loss;
}

void linear_cross_entropy_backward(const LinearCrossEntropy& n, const LinearCrossEntropyInputs& in,
                                   LossGradient d_loss, real* dy, const LinearGradients& to) {
  LinearGradients sums = to;
  const int64_t last = chunk_count(n) - 1;
  for (int64_t i = last; i >= 0; --i) {  // the last chunk's dy is still there
    const Chunk c = chunk(n, i);
    if (i < last) chunk_forward(n, c, in, dy, nullptr);
    real factor = d_loss.of_sum;
    if (d_loss.of_rows) {
      scale_rows({c.rows, n.classes}, d_loss.of_rows + c.first, dy, {dy, false});
      factor = 1;
    }
    chunk_backward(n, c, in, factor, dy, sums);
    sums.dw.accumulate = sums.db.accumulate = true;
  }
}

}  // namespace heed::inline HEED_REAL::kernels

namespace heed::inline HEED_REAL {

Tensor fused::linear_cross_entropy(const Tensor& x, const Tensor& w, const Tensor& b,
                                   const Ids& targets, Reduction reduction,
                                   const LabelSmoothing& smoothing, int64_t at_once) {
  const int64_t rows = targets.size(), classes = w.dim(0);
  const kernels::LinearCrossEntropy n{
      .rows = rows,
      .inputs = w.dim(1),
      .classes = classes,
      .ignored = ignored,
      .p = detail::target_distribution("linear_cross_entropy", smoothing, classes),
      .chunk_rows = kernels::chunk_rows_for(rows, classes, at_once)};
  Tensor dlogits = Tensor::empty({n.chunk_rows, classes});  // of the last chunk
  Tensor losses = reduction == Reduction::none ? Tensor::empty(targets.shape()) : Tensor();
  const double sum = kernels::linear_cross_entropy_forward(
      n, {x.data(), w.data(), b ? b.data() : nullptr, targets.data()}, dlogits.mutable_data(),
      losses ? losses.mutable_data() : nullptr);
  const bool each = static_cast<bool>(losses);
  const real count = detail::divisor(reduction, targets);
  const Tensor loss = each ? std::move(losses) : Tensor::scalar(static_cast<real>(sum / count));
  // With several chunks backward computes logits again, from x, w and b.
  const bool again = n.chunk_rows < rows;
  return record(
      "linear_cross_entropy", loss, {x, w, b},
      [n, targets, each, count, dlogits, xs = again ? saved(x, x, w, b) : saved(x, w),
       ws = again ? saved(w, x, w, b) : saved(w, x),
       bs = again && b ? saved(b, x, w, b) : Saved()](Backward& g) mutable {
        const Destination dw = g.into_or_null(1),  // dw += dlogitsᵀ · x
            db = g.into_or_null(2),                // db += Σₙ dlogits
            dx = g.into_or_null(0);                // dx += dlogits · w
        const kernels::LossGradient dy =           // dlogits = dy · (softmax - p)
            each ? kernels::LossGradient{0, g.dy()} : kernels::LossGradient{*g.dy() / count};
        kernels::linear_cross_entropy_backward(n, {xs.data(), ws.data(), bs.data(), targets.data()},
                                               dy, dlogits.mutable_data(), {dx, dw, db});
      });
}

}  // namespace heed::inline HEED_REAL
