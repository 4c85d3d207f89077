// An operation of your own, with its gradient, checked against central differences.
//
//   y = x · tanh(softplus(x)), softplus(x) = ln(1 + eˣ)    (Misra 2019, "Mish")
//
// The closure is the chain rule: it gets dy and writes dx. It keeps x, which dx needs.
#include <fmt/core.h>

#include <cmath>
#include <heed/core/autograd.h>
#include <heed/core/gradcheck/gradcheck.h>
#include <heed/core/ops.h>
#include <heed/core/print.h>

using namespace heed;

// x (…) → (…)
static Tensor mish(const Tensor& x) {
  Tensor y = Tensor::empty(x.shape());
  real* const to = y.mutable_data();
  for (int64_t i = 0; i < x.size(); ++i)
    to[i] = x.data()[i] * std::tanh(std::log1p(std::exp(x.data()[i])));

  return record("mish", y, {x}, [xs = saved(x, x)](Backward& g) {
    const Destination dx = g.into(0);
    for (int64_t i = 0; i < g.size(); ++i) {
      const real x = xs.data()[i], t = std::tanh(std::log1p(std::exp(x)));
      const real slope = t + x * (1 - t * t) / (1 + std::exp(-x));
      dx.data[i] = g.dy()[i] * slope + (dx.accumulate ? dx.data[i] : 0);
    }
  });
}

int main() {
  const Tensor x = Tensor::from({5}, {-3, -1, 0, 0.5, 2}).set_requires_grad();
  backward(sum(mish(x)));
  fmt::print("dx = {}\n", x.grad());
  gradcheck([](Tensors inputs) { return mish(inputs[0]); }, {x});  // throws Error if they disagree
  fmt::print("agrees with central differences\n");
}
