#include "nn/mixing/gru.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/autograd.h"
#include "core/ops.h"
#include "mixing_check.h"

using namespace heed;
using namespace heed::testing;

namespace {

double sigma(double x) { return 1 / (1 + std::exp(-x)); }

// The formulas of nn/mixing/gru.h, in loops.
Tensor by_definition(const Gru& gru, const Tensor& x) {
  const int64_t batch = x.dim(0), time = x.dim(1), dim = x.dim(2);
  const Tensor w = gru.parameter("input.weight"), b = gru.parameter("input.bias"),
               u = gru.parameter("recurrent.weight"), c = gru.parameter("recurrent.bias");
  const auto product = [dim](const Tensor& matrix, const Tensor& bias, int64_t row,
                             const auto* vector) {
    double result = bias.data()[row];
    for (int64_t i = 0; i < dim; ++i)
      result += static_cast<double>(matrix.data()[row * dim + i]) * vector[i];
    return result;
  };
  Tensor y = Tensor::empty(x.shape());
  for (int64_t example = 0; example < batch; ++example) {
    std::vector<double> h(static_cast<size_t>(dim), 0);
    for (int64_t t = 0; t < time; ++t) {
      const real* xt = x.data() + (example * time + t) * dim;
      const std::vector<double> before = h;
      for (int64_t d = 0; d < dim; ++d) {
        const auto gate = [&](int64_t row) {
          return sigma(product(w, b, row, xt) + product(u, c, row, before.data()));
        };
        const double r = gate(d), z = gate(dim + d);
        const double n = std::tanh(product(w, b, 2 * dim + d, xt) +
                                   r * product(u, c, 2 * dim + d, before.data()));
        double& state = h[static_cast<size_t>(d)];
        state = (1 - z) * n + z * state;
        y.mutable_data()[(example * time + t) * dim + d] = static_cast<real>(state);
      }
    }
  }
  return y;
}

// sin(first), sin(first + 1), …
void fill_with_sines(Tensor x, int first) {
  for (int64_t i = 0; i < x.size(); ++i)
    x.mutable_data()[i] = static_cast<real>(std::sin(static_cast<double>(first + i)));
}

void check_near(const Tensor& got, const std::vector<double>& expected) {
  CHECK(relative_difference(
            got, Tensor::from(got.shape(), std::vector<real>(expected.begin(), expected.end()))) <=
        rounding);
}

}  // namespace

TEST_CASE("a GRU matches its formulas") {
  Gru gru(3);
  shake(gru);
  const Tensor x = random_tensor({2, 5, 3}, 1);
  CHECK(relative_difference(gru(x, {}), by_definition(gru, x)) <= rounding);
  CHECK(gru.parameter_count() == 2 * (9 * 3 + 9));
  CHECK(Gru(3, {false}).parameter_count() == 2 * 9 * 3);
}

TEST_CASE("a GRU is PyTorch's, values and gradients") {
  // torch.nn.GRU(2, 2) in double, filled as below; gradients of Σ c · y.
  Gru gru(2);
  fill_with_sines(gru.parameter("input.weight"), 1);
  fill_with_sines(gru.parameter("recurrent.weight"), 101);
  fill_with_sines(gru.parameter("input.bias"), 201);
  fill_with_sines(gru.parameter("recurrent.bias"), 301);
  Tensor x = Tensor::empty({1, 3, 2}).set_requires_grad(), c = Tensor::empty({1, 3, 2});
  fill_with_sines(x, 401);
  fill_with_sines(c, 501);
  const Tensor y = gru(x, {});
  backward(sum(c * y));
  check_near(y, {-0.04439042147926542, -0.2882095372536222, -0.2236332266367986,
                 -0.3686717868123688, -0.2313183767427789, -0.6078510219655554});
  check_near(x.grad(), {-0.009420684809988346, 0.01154972029040607, -0.06321348580432133,
                        -0.03026256285623063, 0.02845463308456445, -0.04532162638982959});
  check_near(
      gru.parameter("recurrent.weight").grad(),
      {0.001072723507587968, 0.002980900489934113, -0.0003432582830891807, -0.0005080078919216956,
       -0.007253093819155221, -0.0416626737414019, 0.002668719217329922, -0.008846484262927022,
       -0.004804982583746181, -0.01978378276073698, 0.005384350000009078, 0.008619633881193398});
  check_near(gru.parameter("recurrent.bias").grad(),
             {-0.009058847561414408, -0.00371990421996686, 0.1302915016845235, 0.05363400336641225,
              0.06450140966657013, -0.0008367817507692506});
}

TEST_CASE("a GRU's gradients agree with central differences") {
  Gru gru(3);
  shake(gru);
  const SequenceContext context = with_lengths(5, 3);
  check_mixing(gru, random_tensor({2, 5, 3}, 1), context);
  check_padding_is_unseen(gru, random_tensor({2, 5, 3}, 1), context);
}

TEST_CASE("a GRU depends on earlier positions and not on later ones") {
  Gru gru(3);
  shake(gru);
  SequenceContext context;
  context.mask.causal = true;
  const Tensor x = random_tensor({1, 6, 3}, 1), other = random_tensor({1, 6, 3}, 2);
  const Tensor later[] = {slice(x, 1, 0, 4), slice(other, 1, 4, 6)},
               first[] = {slice(other, 1, 0, 1), slice(x, 1, 1, 6)};
  const Tensor y = gru(x, context);
  CHECK(relative_difference(slice(gru(concat(later, 1), context), 1, 0, 4), slice(y, 1, 0, 4)) ==
        0);
  CHECK(relative_difference(slice(gru(concat(first, 1), context), 1, 5, 6), slice(y, 1, 5, 6)) >=
        1e-3);
}

TEST_CASE("a GRU rejects unsupported inputs") {
  const Gru gru(3);
  check_rejects(gru, {2, 5, 4}, {}, "[2, 5, 4]");
  check_rejects(gru, {5, 3}, {}, "gru");
  check_rejects(gru, {2, 5, 3}, {.mask = {.window = 2}}, "window");
}
