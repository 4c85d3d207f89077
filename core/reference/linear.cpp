// A linear layer y = φ(x wᵀ + b), and its gradient: two products and a sum.
#include "core/autograd.h"
#include "core/kernels/gemm/gemm.h"
#include "core/kernels/kernels.h"
#include "core/ops/fused.h"

namespace heed::inline HEED_REAL::fused {

using kernels::gemm;
using kernels::Matrix;

// y[n, o] = Σᵢ x[n, i] w[o, i] + b[o], then φ
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b, Activation activation) {
  const int64_t inputs = w.dim(1), outputs = w.dim(0);
  const int64_t rows = x.shape().span_size(0, x.rank() - 1);
  Tensor y = Tensor::empty(x.shape().with_last(outputs));
  gemm({x.data(), rows, inputs}, Matrix{w.data(), outputs, inputs}.t(), {y.mutable_data(), false},
       b ? b.data() : nullptr);
  record("linear", y, {x, w, b}, [=, xs = saved(x, w), ws = saved(w, x)](Backward& g) {
    const Matrix dy{g.dy(), rows, outputs};
    if (g.wants(0)) gemm(dy, {ws.data(), outputs, inputs}, g.into(0));   // dx += dy · w
    if (g.wants(1)) gemm(dy.t(), {xs.data(), rows, inputs}, g.into(1));  // dw += dyᵀ · x
    if (g.wants(2)) kernels::sum_to(g.dy(), {rows, outputs}, {outputs}, g.into(2));  // db += Σₙ dy
  });
  return heed::activate(activation, y);
}

}  // namespace heed::inline HEED_REAL::fused
