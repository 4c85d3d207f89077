#include "nn/forms/recurrent.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/ops.h"
#include "mixing_check.h"

using namespace heed;
using namespace heed::testing;

namespace {

double sigma(double x) { return 1 / (1 + std::exp(-x)); }

// A step of a layer from the gates, W x[t] + b and U h + c row by row: returns the next state of
// column d, and replaces its cell.
using Step = double (*)(const std::vector<double>& wx, const std::vector<double>& uh, double h,
                        double& cell);

double gru_step(const std::vector<double>& wx, const std::vector<double>& uh, double h, double&) {
  const double r = sigma(wx[0] + uh[0]), z = sigma(wx[1] + uh[1]);
  return (1 - z) * std::tanh(wx[2] + r * uh[2]) + z * h;
}
double lstm_step(const std::vector<double>& wx, const std::vector<double>& uh, double,
                 double& cell) {
  cell = sigma(wx[1] + uh[1]) * cell + sigma(wx[0] + uh[0]) * std::tanh(wx[2] + uh[2]);
  return sigma(wx[3] + uh[3]) * std::tanh(cell);
}

// The formulas of nn/forms/recurrent.h, in loops.
Tensor by_definition(const Recurrent& layer, int64_t gates, Step step, const Tensor& x) {
  const int64_t batch = x.dim(0), time = x.dim(1), dim = x.dim(2);
  const Tensor w = layer.parameter("input.weight"), b = layer.parameter("input.bias"),
               u = layer.parameter("recurrent.weight"), c = layer.parameter("recurrent.bias");
  const auto products = [&](const Tensor& matrix, const Tensor& bias, int64_t d,
                            const auto* vector) {
    std::vector<double> all;
    for (int64_t row = d; row < gates * dim; row += dim) {
      all.push_back(bias.data()[row]);
      for (int64_t i = 0; i < dim; ++i)
        all.back() += static_cast<double>(matrix.data()[row * dim + i]) * vector[i];
    }
    return all;
  };
  Tensor y = Tensor::empty(x.shape());
  for (int64_t example = 0; example < batch; ++example) {
    std::vector<double> h(static_cast<size_t>(dim), 0), cell = h;
    for (int64_t t = 0; t < time; ++t) {
      const real* xt = x.data() + (example * time + t) * dim;
      const std::vector<double> before = h;
      for (int64_t d = 0; d < dim; ++d) {
        double& state = h[static_cast<size_t>(d)];
        state = step(products(w, b, d, xt), products(u, c, d, before.data()), state,
                     cell[static_cast<size_t>(d)]);
        y.mutable_data()[(example * time + t) * dim + d] = static_cast<real>(state);
      }
    }
  }
  return y;
}

// A function of each recurrent layer of width 3.
template <class F>
void for_each_layer(const F& f) {
  const Gru gru(3);
  const Lstm lstm(3);
  for (const Recurrent* layer : std::initializer_list<const Recurrent*>{&gru, &lstm}) {
    shake(*layer);
    CAPTURE(layer == &gru);
    f(*layer);
  }
}

}  // namespace

TEST_CASE("a GRU and an LSTM match their formulas") {
  Gru gru(3);
  Lstm lstm(3);
  shake(gru);
  shake(lstm);
  const Tensor x = random_tensor({2, 5, 3}, 1);
  CHECK(relative_difference(gru(x, {}), by_definition(gru, 3, gru_step, x)) <= rounding);
  CHECK(relative_difference(lstm(x, {}), by_definition(lstm, 4, lstm_step, x)) <= rounding);
  CHECK(gru.parameter_count() == 2 * (9 * 3 + 9));
  CHECK(Gru(3, {false}).parameter_count() == 2 * 9 * 3);
  CHECK(lstm.parameter_count() == 2 * (12 * 3 + 12));
  CHECK(gru(Tensor::empty({2, 0, 3}), {}).shape() == Shape{2, 0, 3});
}

TEST_CASE("the gradients of recurrent layers agree with central differences") {
  for_each_layer([](const Recurrent& layer) {
    const SequenceContext context = with_lengths(5, 3);
    check_mixing(layer, random_tensor({2, 5, 3}, 1), context);
    check_padding_is_unseen(layer, random_tensor({2, 5, 3}, 1), context);
  });
}

TEST_CASE("recurrent layers depend on earlier positions and not on later ones") {
  for_each_layer([](const Recurrent& layer) {
    SequenceContext context;
    context.mask.causal = true;
    const Tensor x = random_tensor({1, 6, 3}, 1), other = random_tensor({1, 6, 3}, 2);
    const Tensor later[] = {slice(x, 1, 0, 4), slice(other, 1, 4, 6)},
                 first[] = {slice(other, 1, 0, 1), slice(x, 1, 1, 6)};
    const Tensor y = layer(x, context);
    CHECK(relative_difference(slice(layer(concat(later, 1), context), 1, 0, 4),
                              slice(y, 1, 0, 4)) == 0);
    CHECK(relative_difference(slice(layer(concat(first, 1), context), 1, 5, 6),
                              slice(y, 1, 5, 6)) >= 1e-3);
  });
}

TEST_CASE("recurrent layers reject unsupported inputs") {
  for_each_layer([](const Recurrent& layer) {
    check_rejects(layer, {2, 5, 4}, {}, "[2, 5, 4]");
    check_rejects(layer, {2, 5, 3}, {.mask = {.window = 2}}, "window");
  });
  check_rejects(Gru(3), {5, 3}, {}, "gru");
  check_rejects(Lstm(3), {5, 3}, {}, "lstm");
}
