#include "nn/forms/gru.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/ops.h"
#include "mixing_check.h"

using namespace heed;
using namespace heed::testing;

namespace {

double sigma(double x) { return 1 / (1 + std::exp(-x)); }

// The formulas of nn/forms/gru.h, in loops.
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

}  // namespace

TEST_CASE("a GRU matches its formulas") {
  Gru gru(3);
  shake(gru);
  const Tensor x = random_tensor({2, 5, 3}, 1);
  CHECK(relative_difference(gru(x, {}), by_definition(gru, x)) <= rounding);
  CHECK(gru.parameter_count() == 2 * (9 * 3 + 9));
  CHECK(Gru(3, {false}).parameter_count() == 2 * 9 * 3);
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
