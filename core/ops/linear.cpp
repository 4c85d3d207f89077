// Matrix products: nearly all of the time of a training step is spent here.
#include "core/autograd.h"
#include "core/kernels/gemm/gemm.h"
#include "core/ops/fused.h"

namespace heed::inline HEED_REAL {

using kernels::broadcast_axes;
using kernels::gemm_batched;
using kernels::Matrix;

// y[n, o] = φ(Σᵢ x[n, i] w[o, i] + b[o]): core/reference/linear.cpp, with its gradient.
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b, Activation activation) {
  check(w.rank() == 2 && x.rank() >= 1 && x.dim(-1) == w.dim(1),
        "linear: the last axis of x {} must be as long as the last axis of w {}", x.shape(),
        w.shape());
  check(!b || b.shape() == Shape{w.dim(0)}, "linear: w {} needs a bias of shape [{}], got {}",
        w.shape(), w.dim(0), b ? b.shape() : Shape{});
  return fused::linear(x, w, b, activation);
}

Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b) {
  return linear(x, w, b, Activation::none);
}

Tensor activate(Activation function, const Tensor& x) {
  return function == Activation::none ? x : fused::activate(function, x);
}

// The axes before the last two.
static Shape batch_axes(const Shape& s) {
  return Shape(std::span<const int64_t>(s.begin(), s.end() - 2));
}

static Shape with_matrix(const Shape& batch, int64_t rows, int64_t columns) {
  return batch.inserted(batch.rank(), rows).inserted(batch.rank() + 1, columns);
}

// c[…, m, n] = Σₖ a[…, m, k] b[…, k, n], by gemm_batched(): a matrix product for each index of the
// batch axes. Matrix::t() is the transpose (core/kernels/gemm/gemm.h).
Tensor matmul(const Tensor& a, const Tensor& b) {
  check(a.rank() >= 2 && b.rank() >= 2 && a.dim(-1) == b.dim(-2),
        "matmul: the last axis of a {} must be as long as the last but one of b {}, both of rank 2 "
        "or more",
        a.shape(), b.shape());
  const int64_t m = a.dim(-2), k = a.dim(-1), n = b.dim(-1);
  const Shape batch_a = batch_axes(a.shape()), batch_b = batch_axes(b.shape());
  const Shape batch = broadcast("matmul", batch_a, batch_b);
  Tensor c = Tensor::empty(with_matrix(batch, m, n));
  gemm_batched(broadcast_axes(batch, batch_a, batch_b), {a.data(), m, k}, {b.data(), k, n},
               {c.mutable_data(), false});

  return record("matmul", c, {a, b}, [=, as = saved(a, b), bs = saved(b, a)](Backward& g) {
    const Matrix dc{g.dy(), m, n};
    // da += dc · bᵀ, summed over the axes along which a was broadcast
    if (g.wants(0))
      g.into_broadcast(0, with_matrix(batch, m, k), with_matrix(batch_a, m, k),
                       [&](Destination to) {
                         gemm_batched(broadcast_axes(batch, batch, batch_b), dc,
                                      Matrix{bs.data(), k, n}.t(), to);
                       });
    // db += aᵀ · dc, likewise
    if (g.wants(1))
      g.into_broadcast(1, with_matrix(batch, k, n), with_matrix(batch_b, k, n),
                       [&](Destination to) {
                         gemm_batched(broadcast_axes(batch, batch_a, batch),
                                      Matrix{as.data(), m, k}.t(), dc, to);
                       });
  });
}

}  // namespace heed::inline HEED_REAL
