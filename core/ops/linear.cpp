// Matrix products: nearly all of the time of a training step is spent here.
#include "core/autograd.h"
#include "core/kernels/gemm/gemm.h"
#include "core/ops/fused.h"

namespace heed::inline HEED_REAL {

using kernels::BatchIndex;
using kernels::gemm_batched;
using kernels::Matrix;

// y[n, o] = φ(Σᵢ x[n, i] w[o, i] + b[o])
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

namespace {

// The axes before the last two.
Shape batch_axes(const Shape& s) { return Shape(std::span<const int64_t>(s.begin(), s.end() - 2)); }

Shape with_matrix(const Shape& batch, int64_t rows, int64_t columns) {
  return batch.inserted(batch.rank(), rows).inserted(batch.rank() + 1, columns);
}

}  // namespace

// c[…, m, n] = Σₖ a[…, m, k] b[…, k, n]
Tensor matmul(const Tensor& a, const Tensor& b) {
  check(a.rank() >= 2 && b.rank() >= 2 && a.dim(-1) == b.dim(-2),
        "matmul: the last axis of a {} must be as long as the last but one of b {}, both of rank 2 "
        "or more",
        a.shape(), b.shape());
  const int64_t m = a.dim(-2), k = a.dim(-1), n = b.dim(-1);
  const Shape batch = broadcast("matmul", batch_axes(a.shape()), batch_axes(b.shape()));
  const BatchIndex at_a(batch, batch_axes(a.shape()), m * k),
      at_b(batch, batch_axes(b.shape()), k * n);
  const int64_t count = batch.size();
  Tensor c = Tensor::empty(with_matrix(batch, m, n));
  gemm_batched(count, {a.data(), m, k}, at_a, {b.data(), k, n}, at_b, {c.mutable_data(), false});

  return record("matmul", c, {a, b},
                [=, shape_a = a.shape(), shape_b = b.shape(), as = saved(a, b),
                 bs = saved(b, a)](Backward& g) {
                  const BatchIndex at_c(batch, batch, m * n);
                  const Matrix dc(g.dy(), m, n);
                  // da += dc · bᵀ, summed over the axes along which a was broadcast
                  if (g.wants(0))
                    g.into_broadcast(0, with_matrix(batch, m, k), shape_a, [&](Destination to) {
                      gemm_batched(count, dc, at_c, Matrix(bs.data(), k, n).t(), at_b, to);
                    });
                  // db += aᵀ · dc, likewise
                  if (g.wants(1))
                    g.into_broadcast(1, with_matrix(batch, k, n), shape_b, [&](Destination to) {
                      gemm_batched(count, Matrix(as.data(), m, k).t(), at_a, dc, at_c, to);
                    });
                });
}

}  // namespace heed::inline HEED_REAL
