#include "nn/forms/time_dense.h"

#include <doctest/doctest.h>

#include "core/ops.h"
#include "mixing_check.h"

using namespace heed;
using namespace heed::testing;

namespace {

// y[o] = Σ w[o, i] x[i] + b[o]
double linear_at(const Tensor& w, const Tensor& b, const real* x, int64_t o) {
  double result = b.data()[o];
  for (int64_t i = 0; i < w.dim(1); ++i)
    result += static_cast<double>(w.data()[o * w.dim(1) + i]) * x[i];
  return result;
}

// The formula of nn/forms/time_dense.h, in loops.
Tensor by_definition(const TimeDense& layer, const Tensor& x, const Ids& lengths) {
  const auto named = layer.parameters();  // weight, value, output
  const Tensor value = named[1].tensor, value_bias = named[2].tensor, output = named[3].tensor,
               output_bias = named[4].tensor;
  const int64_t time = x.dim(1), dim = x.dim(2), longest = layer.weight.dim(1);
  Tensor y = Tensor::empty(x.shape());
  for (int64_t n = 0; n < x.dim(0) * time; ++n) {
    const int64_t b = n / time, t = n % time;
    std::vector<double> mixed(static_cast<size_t>(dim), 0);
    for (int64_t j = 0; j < lengths[b]; ++j)
      for (int64_t d = 0; d < dim; ++d)
        mixed[static_cast<size_t>(d)] +=
            layer.weight.data()[t * longest + j] *
            linear_at(value, value_bias, x.data() + (b * time + j) * dim, d);
    const std::vector<real> read(mixed.begin(), mixed.end());
    for (int64_t o = 0; o < dim; ++o)
      y.mutable_data()[n * dim + o] =
          static_cast<real>(linear_at(output, output_bias, read.data(), o));
  }
  return y;
}

}  // namespace

TEST_CASE("a dense layer over time matches its definition up to its length") {
  TimeDense layer(3, 5);
  shake(layer);
  CHECK(layer.parameter_count() == 25 + 2 * (9 + 3));
  for (const int64_t time : {5, 4, 1}) {
    const Tensor x = random_tensor({2, time, 3}, 1);
    const Ids all = Ids::full({2}, static_cast<int32_t>(time));
    CHECK(relative_difference(layer(x, {}), by_definition(layer, x, all)) <= rounding);
    const SequenceContext context = with_lengths(static_cast<int32_t>(time), 1);
    CHECK(relative_difference(layer(x, context),
                              by_definition(layer, x, context.mask.key_lengths)) <= rounding);
  }
}

TEST_CASE("the gradients of a dense layer over time agree with central differences") {
  TimeDense layer(3, 5);
  shake(layer);
  for (const int64_t time : {5, 4}) {
    check_mixing(layer, random_tensor({2, time, 3}, 1), {});
    check_mixing(layer, random_tensor({2, time, 3}, 1), with_lengths(3, 0));
    check_padding_is_unseen(layer, random_tensor({2, time, 3}, 1), with_lengths(3, 0));
  }
}

TEST_CASE("a dense layer over time is not permutation equivariant") {
  TimeDense layer(3, 6);
  shake(layer);
  const Tensor x = random_tensor({1, 6, 3}, 1);
  const Ids order = Ids::from({6}, {3, 0, 5, 1, 4, 2});
  CHECK(relative_difference(layer(reordered(x, order), {}), reordered(layer(x, {}), order)) >=
        1e-2);
}

TEST_CASE("a dense layer over time rejects unsupported inputs") {
  const TimeDense layer(3, 5);
  check_rejects(layer, {2, 6, 3}, {}, "`length`");
  check_rejects(layer, {2, 5, 4}, {}, "[2, 5, 4]");
  check_rejects(layer, {3, 5, 3}, with_lengths(1, 2), "key lengths");
  check_rejects(layer, {2, 5, 3}, {.mask = {.causal = true}}, "causal");
  check_rejects(layer, {2, 5, 3}, {.mask = {.window = 2}}, "window");
}

TEST_CASE("a full dense layer has a matrix for each pair of positions") {
  constexpr int64_t length = 4, dim = 3;
  FullDense layer(dim, length);
  shake(layer);
  const Tensor w = layer.parameter("matrix.weight"), b = layer.parameter("matrix.bias");
  CHECK(layer.parameter_count() == length * length * dim * dim + length * dim);
  for (const int64_t time : {4, 2}) {
    const Tensor x = random_tensor({2, time, dim}, 1);
    const SequenceContext context = with_lengths(static_cast<int32_t>(time), 1);
    Tensor expected = Tensor::empty(x.shape());
    for (int64_t n = 0; n < expected.size(); ++n) {
      const int64_t example = n / (time * dim), o = n % (time * dim);
      double y = b.data()[o];
      for (int64_t i = 0; i < context.mask.key_lengths[example] * dim; ++i)
        y += static_cast<double>(w.data()[o * length * dim + i]) *
             x.data()[example * time * dim + i];
      expected.mutable_data()[n] = static_cast<real>(y);
    }
    CHECK(relative_difference(layer(x, context), expected) <= rounding);
    check_mixing(layer, x, context);
    check_padding_is_unseen(layer, x, context);
  }
  check_rejects(layer, {2, 5, 3}, {}, "`length`");
  check_rejects(layer, {2, 4, 3}, {.mask = {.causal = true}}, "causal");
  CHECK_THROWS_WITH_AS(FullDense(1 << 12, 1 << 12), doctest::Contains("`full_matrix` = true"),
                       InputError);
}
