#include "core/kernels/linear_cross_entropy.h"

#include <algorithm>

#include "core/kernels/gemm/gemm.h"
#include "core/kernels/scratch.h"

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
