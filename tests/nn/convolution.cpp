#include "nn/forms/convolution.h"

#include <doctest/doctest.h>

#include <memory>

#include "core/ops.h"
#include "mixing_check.h"

using namespace heed;
using namespace heed::testing;

namespace {

// The formula of nn/forms/convolution.h, in loops, for real positions; zeros elsewhere.
Tensor by_definition(const Convolution& layer, const Tensor& x, int64_t k, Padding padding,
                     bool causal, const Ids& lengths) {
  const int64_t time = x.dim(1), dim = x.dim(2);
  Tensor y = Tensor::zeros(x.shape());
  for (int64_t b = 0; b < x.dim(0); ++b)
    for (int64_t t = 0; t < lengths[b]; ++t)
      for (int64_t o = 0; o < dim; ++o) {
        double result = layer.bias.data()[o];
        for (int64_t j = 0; j < k; ++j) {
          int64_t position = t + j - (causal ? k - 1 : (k - 1) / 2);
          if (padding == Padding::circular) position = (position + 100 * lengths[b]) % lengths[b];
          if (position < 0 || position >= lengths[b]) continue;
          for (int64_t i = 0; i < dim; ++i)
            result += static_cast<double>(layer.weight.data()[(o * k + j) * dim + i]) *
                      x.data()[(b * time + position) * dim + i];
        }
        y.mutable_data()[(b * time + t) * dim + o] = static_cast<real>(result);
      }
  return y;
}

Tensor only_real(const Tensor& x, const Ids& lengths) {
  Ids behind = Ids::full({x.dim(0), x.dim(1), 1}, 0);
  for (int64_t n = 0; n < behind.size(); ++n)
    behind.mutable_data()[n] = n % x.dim(1) >= lengths[n / x.dim(1)];
  return masked_fill(x, behind, 0);
}

struct Form {
  int64_t kernel_size;
  Padding padding;
  bool causal;
};
constexpr Form forms[] = {{1, Padding::zero, false},     {3, Padding::zero, false},
                          {3, Padding::circular, false}, {2, Padding::zero, true},
                          {4, Padding::zero, true},      {9, Padding::zero, false},
                          {9, Padding::circular, false}};

}  // namespace

TEST_CASE("a convolution matches its definition for sequences of any length") {
  const Tensor x = random_tensor({2, 5, 3}, 1);
  const SequenceContext context = with_lengths(5, 3);
  const Ids all = Ids::full({2}, 5);
  for (const auto& [kernel_size, padding, causal] : forms) {
    const int64_t k = kernel_size;
    CAPTURE(k);
    Convolution layer(3, k, padding, causal);
    shake(layer);
    const Tensor y = only_real(layer(x, context), context.mask.key_lengths);
    CHECK(relative_difference(y, by_definition(layer, x, k, padding, causal,
                                               context.mask.key_lengths)) <= rounding);
    CHECK(relative_difference(layer(x, {}), by_definition(layer, x, k, padding, causal, all)) <=
          rounding);
  }
}

TEST_CASE("a convolution's gradients agree with central differences") {
  for (const auto& [kernel_size, padding, causal] : forms) {
    const int64_t k = kernel_size;
    CAPTURE(k);
    Convolution layer(3, k, padding, causal);
    shake(layer);
    check_mixing(layer, random_tensor({2, 5, 3}, 1), with_lengths(5, 3));
    check_padding_is_unseen(layer, random_tensor({2, 5, 3}, 1), with_lengths(5, 3));
  }
  CHECK(Convolution(3, 5, Padding::zero, false).parameter_count() == 3 * 15 + 3);
  CHECK(Convolution(3, 5, Padding::zero, false, {false}).parameter_count() == 3 * 15);
}

TEST_CASE("a convolution of kernel size 1 is permutation equivariant, one of size 3 is not") {
  const Tensor x = random_tensor({1, 6, 3}, 1);
  const Ids order = Ids::from({6}, {3, 0, 5, 1, 4, 2});
  const auto error = [&](int64_t k, Padding padding) {
    Convolution layer(3, k, padding, false);
    shake(layer);
    return relative_difference(layer(reordered(x, order), {}), reordered(layer(x, {}), order));
  };
  CHECK(error(1, Padding::zero) <= rounding);
  CHECK(error(3, Padding::zero) >= 1e-2);
  CHECK(error(3, Padding::circular) >= 1e-2);
}

TEST_CASE("a circular convolution is shift equivariant, one with zero padding except at the ends") {
  const Tensor x = random_tensor({1, 6, 3}, 1);
  const Ids shift = Ids::from({6}, {5, 0, 1, 2, 3, 4});  // one position to the right
  const auto results = [&](Padding padding) {
    Convolution layer(3, 3, padding, false);
    shake(layer);
    return std::pair(layer(reordered(x, shift), {}), reordered(layer(x, {}), shift));
  };
  const auto [of_shifted, shifted] = results(Padding::circular);
  CHECK(relative_difference(of_shifted, shifted) <= rounding);

  const auto [with_zeros, expected] = results(Padding::zero);
  const auto error_at = [&, a = with_zeros, b = expected](int64_t first, int64_t last) {
    return relative_difference(slice(a, 1, first, last), slice(b, 1, first, last));
  };
  CHECK(error_at(2, 5) <= rounding);
  for (const int64_t end : {0, 1, 5}) CHECK(error_at(end, end + 1) >= 1e-2);
}

TEST_CASE("a causal convolution does not read later positions") {
  Convolution layer(3, 4, Padding::zero, true);
  shake(layer);
  SequenceContext context;
  context.mask.causal = true;
  const Tensor x = random_tensor({1, 6, 3}, 1), other = random_tensor({1, 6, 3}, 2);
  const Tensor parts[] = {slice(x, 1, 0, 4), slice(other, 1, 4, 6)};
  const Tensor y = layer(x, context), changed = layer(concat(parts, 1), context);
  CHECK(relative_difference(slice(changed, 1, 0, 4), slice(y, 1, 0, 4)) == 0);
  CHECK(relative_difference(slice(changed, 1, 4, 5), slice(y, 1, 4, 5)) >= 1e-2);
}

TEST_CASE("a convolution rejects unsupported inputs") {
  CHECK_THROWS_WITH_AS(Convolution(3, 4, Padding::zero, false), doctest::Contains("must be odd"),
                       Error);
  CHECK_THROWS_WITH_AS(Convolution(3, 0, Padding::zero, true),
                       doctest::Contains("convolution: kernel_size"), Error);
  CHECK_THROWS_WITH_AS(Convolution(3, 3, Padding::circular, true), doctest::Contains("circular"),
                       Error);
  const Convolution layer(3, 3, Padding::zero, false);
  check_rejects(layer, {2, 5, 4}, {}, "[2, 5, 4]");
  check_rejects(layer, {2, 3}, {}, "convolution");
  check_rejects(layer, {3, 5, 3}, with_lengths(5, 3), "key lengths");
  check_rejects(layer, {2, 5, 3}, {.mask = {.causal = true}}, "causal");
  check_rejects(layer, {2, 5, 3}, {.mask = {.window = 2}}, "window");
}

TEST_CASE("a convolution supports a sequence of length 0") {
  const SequenceContext context = with_lengths(0, 2);
  for (const Padding padding : {Padding::zero, Padding::circular}) {
    Convolution layer(3, 5, padding, false);
    shake(layer);
    check_mixing(layer, random_tensor({2, 3, 3}, 1), context);
    check_padding_is_unseen(layer, random_tensor({2, 3, 3}, 1), context);
  }
}

namespace {

// A form on an image of 4 × 5 cells, or a video of 2 × 3 × 2.
struct GridForm {
  int64_t kernel_size;
  Padding padding;
  ConvolutionForm form;
};
const GridForm grid_forms[] = {{3, Padding::zero, {{4, 5}}},
                               {3, Padding::circular, {{4, 5}}},
                               {5, Padding::circular, {{4, 5}, {0}}},
                               {3, Padding::zero, {{4, 5}, {}, true}},
                               {3, Padding::circular, {{2, 3, 2}, {1, 2}}}};

std::unique_ptr<Convolution> on_grid(int64_t dim, const GridForm& form) {
  auto layer = std::make_unique<Convolution>(dim, form.kernel_size, form.padding, false,
                                             LinearOptions(), form.form);
  shake(*layer);
  return layer;
}

// Cell (i, j) of an image of 4 × 5 as a position.
int64_t cell(int64_t i, int64_t j) { return (i + 4) % 4 * 5 + (j + 5) % 5; }

}  // namespace

TEST_CASE("a convolution on a grid reads the neighbours along all axes, and wraps into no row") {
  for (const Padding padding : {Padding::zero, Padding::circular}) {
    const auto made = on_grid(3, {3, padding, {{4, 5}}});
    const Convolution& layer = *made;
    CHECK(layer.parameter_count() == 3 * 9 * 3 + 3);
    const Tensor x = random_tensor({1, 20, 3}, 1), y = layer(x, {});
    for (const auto& [row, column] : {std::pair{0, 4}, {1, 2}, {3, 0}}) {
      Tensor other = x.clone();
      other.mutable_data()[cell(row, column) * 3] += 1;
      const Tensor changed = layer(other, {});
      for (int64_t i = 0; i < 4; ++i)
        for (int64_t j = 0; j < 5; ++j) {
          const int64_t t = cell(i, j);
          const int64_t down = std::abs(i - row), right = std::abs(j - column);
          const bool around = padding == Padding::circular;
          const bool near =
              (down <= 1 || (around && down == 3)) && (right <= 1 || (around && right == 4));
          CHECK((relative_difference(slice(changed, 1, t, t + 1), slice(y, 1, t, t + 1)) > 0) ==
                near);
        }
    }
  }
}

TEST_CASE("the gradients of convolutions on grids agree with central differences") {
  for (const GridForm& form : grid_forms) {
    const int64_t cells = Shape(form.form.grid).size();
    check_mixing(*on_grid(2, form), random_tensor({2, cells, 2}, 1), {});
  }
  Convolution scalar(3, 5, Padding::zero, false, {}, {.scalar = true});
  shake(scalar);
  CHECK(scalar.parameter_count() == 5 + 3);
  check_mixing(scalar, random_tensor({2, 5, 3}, 1), with_lengths(5, 3));
  check_padding_is_unseen(scalar, random_tensor({2, 5, 3}, 1), with_lengths(5, 3));
}

TEST_CASE("a scalar convolution is one whose matrices are multiples of the identity") {
  for (const bool causal : {false, true}) {
    Convolution scalar(3, 3, Padding::zero, causal, {}, {.scalar = true});
    const Convolution matrix(3, 3, Padding::zero, causal);
    shake(scalar);
    std::fill_n(Tensor(matrix.weight).mutable_data(), matrix.weight.size(), real{0});
    for (int64_t o = 0; o < 3; ++o) {
      Tensor(matrix.bias).mutable_data()[o] = scalar.bias.data()[o];
      for (int64_t j = 0; j < 3; ++j)
        Tensor(matrix.weight).mutable_data()[(o * 3 + j) * 3 + o] = scalar.weight.data()[j];
    }
    const Tensor x = random_tensor({2, 5, 3}, 1);
    const SequenceContext context = with_lengths(5, 3);
    CHECK(relative_difference(only_real(scalar(x, context), context.mask.key_lengths),
                              only_real(matrix(x, context), context.mask.key_lengths)) <= rounding);
  }
}

TEST_CASE("a convolution on a grid is equivariant to shifts along its circular axes") {
  const auto error = [](const Convolution& layer, int64_t down, int64_t right) {
    const Tensor x = random_tensor({1, 20, 3}, 1);
    Ids shift = Ids::empty({20});
    for (int64_t t = 0; t < 20; ++t)
      shift.mutable_data()[t] = static_cast<int32_t>(cell(t / 5 - down, t % 5 - right));
    return relative_difference(layer(reordered(x, shift), {}), reordered(layer(x, {}), shift));
  };
  const auto torus = on_grid(3, {3, Padding::circular, {{4, 5}}}),
             columns = on_grid(3, {3, Padding::circular, {{4, 5}, {1}}});
  CHECK(error(*torus, 1, 3) <= rounding);
  CHECK(error(*columns, 0, 2) <= rounding);
  CHECK(error(*columns, 1, 0) >= 1e-2);
}

TEST_CASE("a convolution rejects grids that do not fit") {
  const auto made = [](int64_t k, Padding padding, bool causal, const ConvolutionForm& form) {
    return std::make_unique<Convolution>(3, k, padding, causal, LinearOptions(), form);
  };
  CHECK_THROWS_WITH_AS(made(3, Padding::zero, true, {{4, 5}}),
                       doctest::Contains("`attention.causal` = true"), InputError);
  CHECK_THROWS_WITH_AS(made(33, Padding::zero, false, {{4, 5}}),
                       doctest::Contains("`kernel_size` = 33 on a grid of 2 axes"), InputError);
  CHECK_THROWS_WITH_AS(made(3, Padding::circular, false, {{4, 5}, {2}}),
                       doctest::Contains("no axis 2 of 2"), Error);
  check_rejects(*made(3, Padding::zero, false, {{4, 5}}), {2, 19, 3}, {}, "do not fill the grid");
}
