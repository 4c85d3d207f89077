// Parameters and gradients for tests that use no operations of core.
#pragma once

#include <doctest/doctest.h>

#include "core/autograd.h"
#include "core/tensor.h"

namespace heed::inline HEED_REAL {

// Returns a leaf that requires a gradient. Element i is f(i).
template <class F>
Tensor parameter(const Shape& shape, F f) {
  Tensor x = Tensor::empty(shape);
  real* values = x.mutable_data();
  for (int64_t i = 0; i < x.size(); ++i) values[i] = static_cast<real>(f(i));
  x.set_requires_grad();
  return x;
}

// Σᵢ f(i, xᵢ), whose gradient is df(i, xᵢ).
template <class F, class DF>
Tensor summed(const Tensor& x, F f, DF df) {
  double sum = 0;
  for (int64_t i = 0; i < x.size(); ++i) sum += f(i, x.data()[i]);
  return record("summed", Tensor::scalar(static_cast<real>(sum)), {x},
                [xs = saved(x, x), df](Backward& g) {
                  const Destination to = g.into(0);
                  for (int64_t i = 0; i < xs.shape().size(); ++i) {
                    const real dx = static_cast<real>(df(i, xs.data()[i])) * *g.dy();
                    to.data[i] = to.accumulate ? to.data[i] + dx : dx;
                  }
                });
}

// Adds f(i) to the gradient of element i of x.
template <class F>
void give_gradient(const Tensor& x, F f) {
  backward(summed(
      x, [](int64_t, real) { return 0; }, [f](int64_t i, real) { return f(i); }));
}

}  // namespace heed::inline HEED_REAL
