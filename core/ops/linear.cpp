// Matrix products: linear (the layer's formula) and batched matmul.
#include "core/kernels/linear.h"

#include <algorithm>

#include "core/autograd.h"
#include "core/kernels/activation.h"
#include "core/kernels/gemm/gemm.h"
#include "core/kernels/reduce.h"
#include "core/ops.h"
#include "core/parallel.h"

namespace heed::inline HEED_REAL {

using kernels::BatchIndex;
using kernels::gemm;
using kernels::gemm_batched;
using kernels::LinearSizes;
using kernels::Matrix;

namespace {

// The nonlinearity of a linear layer, for each block of the product while it is in the cache.
struct ActivationEpilogue {
  Activation function;
  int64_t outputs;
  real *y, *slope;

  kernels::Epilogue finish() const {
    if (function == Activation::none) return {};
    return {[](const void* context, int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
              const ActivationEpilogue& o = *static_cast<const ActivationEpilogue*>(context);
              const int64_t first = i0 * o.outputs + j0;
              kernels::activate(o.function, i1 - i0, j1 - j0, o.outputs, o.y + first,
                                o.slope ? o.slope + first : nullptr);
            },
            this};
  }
};

// dh = dy φ'(h),  dx += dh w,  dw += dhᵀ x,  db += Σₙ dh
void linear_backward(Backward& g, const LinearSizes& n, Activation function, const Saved& x,
                     const Saved& w, const Saved& kept) {
  const auto place = [&](int i) { return g.wants(i) ? g.into(i) : Destination{nullptr, false}; };
  const bool plain = function == Activation::none;
  if (n.by_blocks()) {
    Tensor scratch = Tensor::empty({n.scratch(function)});
    // In this order, in which they are written: x and w may be one tensor.
    const Destination dx = place(0), dw = place(1), db = place(2);
    kernels::linear_backward(n, function, g.dy(), plain ? nullptr : kept.data(),
                             g.wants(1) ? x.data() : nullptr, g.wants(0) ? w.data() : nullptr, dx,
                             dw, db, scratch.mutable_data(), scope().precision);
    return;
  }
  Tensor dh_rows;
  if (!plain) {
    dh_rows = Tensor::empty({n.rows, n.outputs});
    real* to = dh_rows.mutable_data();
    parallel_for(dh_rows.size(), chunk_elements,
                 [=, dy = g.dy(), from = kept.data()](int64_t first, int64_t last) {
                   kernels::activate_backward(function, last - first, dy + first, from + first,
                                              to + first);
                 });
  }
  const real* data = plain ? g.dy() : dh_rows.data();
  const Matrix dh(data, n.rows, n.outputs);
  if (g.wants(0)) gemm(dh, {w.data(), n.outputs, n.inputs}, g.into(0));
  if (g.wants(1)) gemm(dh.t(), {x.data(), n.rows, n.inputs}, g.into(1));
  if (g.wants(2)) kernels::sum_to(data, {n.rows, n.outputs}, {n.outputs}, g.into(2));
}

}  // namespace

// y[n, o] = φ(h),  h = Σᵢ x[n, i] w[o, i] + b[o],   n counting the rows of x over its leading axes
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b, Activation function) {
  check(w.rank() == 2 && x.rank() >= 1 && x.dim(-1) == w.dim(1),
        "linear: the last axis of x {} must be as long as the last axis of w {}", x.shape(),
        w.shape());
  check(!b || b.shape() == Shape{w.dim(0)}, "linear: w {} needs a bias of shape [{}], got {}",
        w.shape(), w.dim(0), b ? b.shape() : Shape{});
  const int64_t inputs = w.dim(1), outputs = w.dim(0);
  const int64_t rows = x.shape().span_size(0, x.rank() - 1);
  Tensor y = Tensor::empty(x.shape().with_last(outputs)), slope;
  if (kernels::keeps_slope(function) &&
      (wants_gradient(x) || wants_gradient(w) || wants_gradient(b)))
    slope = Tensor::empty(y.shape());

  const ActivationEpilogue on_top{function, outputs, y.mutable_data(),
                                  slope ? slope.mutable_data() : nullptr};
  gemm({x.data(), rows, inputs}, Matrix(w.data(), outputs, inputs).t(), {y.mutable_data(), false},
       0, 1, b ? b.data() : nullptr, on_top.finish());
  const bool plain = function == Activation::none;
  return record("linear", y, {x, w, b},
                [=, n = LinearSizes{rows, inputs, outputs}, xs = saved(x, w), ws = saved(w, x),
                 kept = plain ? Saved() : saved(slope ? slope : y, x, w, b)](Backward& g) {
                  linear_backward(g, n, function, xs, ws, kept);
                });
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
