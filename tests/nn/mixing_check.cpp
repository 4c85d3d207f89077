#include "mixing_check.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/autograd.h"
#include "core/ops.h"
#include "gradient_check.h"

namespace heed::inline HEED_REAL::testing {

SequenceContext with_lengths(int32_t first, int32_t second) {
  return {.mask = {.key_lengths = Ids::from({2}, {first, second})}};
}

void check_rejects(const Mixing& mixing, const Shape& x, const SequenceContext& context,
                   const char* text) {
  CHECK_THROWS_WITH_AS(mixing(Tensor::zeros(x), context), doctest::Contains(text), Error);
}

void check_mixing(const Mixing& mixing, const Tensor& x, const SequenceContext& context) {
  CHECK(mixing(x, context).shape() == x.shape());
  std::vector<NamedParameter> all = mixing.parameters();
  all.push_back({"x", x});
  check_gradients(all, [&] { return read_out(mixing(x, context)); });
}

namespace {

// The results at real positions, and the gradients that arise from them: those of every parameter,
// and of x at real positions.
std::vector<real> seen(const Mixing& mixing, const Tensor& x, const SequenceContext& context) {
  std::vector<NamedParameter> all = mixing.parameters();
  for (const NamedParameter& p : all) Tensor(p.tensor).clear_grad();
  Tensor(x).clear_grad();
  const Tensor y = mixing(x, context);
  const auto is_real = [&](int64_t i) {
    const int64_t position = i / x.dim(2);
    return position % x.dim(1) < context.mask.key_lengths[position / x.dim(1)];
  };
  std::vector<real> values;
  const auto keep_real = [&](const Tensor& of_positions) {
    for (int64_t i = 0; i < of_positions.size(); ++i)
      if (is_real(i)) values.push_back(of_positions.data()[i]);
  };
  Tensor cotangent = random_tensor(x.shape(), 98).detach();
  for (int64_t i = 0; i < x.size(); ++i)
    if (!is_real(i)) cotangent.mutable_data()[i] = 0;
  backward(y, cotangent);
  keep_real(y);
  keep_real(x.grad());
  for (const NamedParameter& p : all) {
    const Tensor g = p.tensor.grad();
    if (g) values.insert(values.end(), g.values().begin(), g.values().end());
  }
  return values;
}

}  // namespace

void check_padding_is_unseen(const Mixing& mixing, const Tensor& x,
                             const SequenceContext& context) {
  const std::vector<real> before = seen(mixing, x, context);
  Tensor other = x.clone();
  real* to = other.mutable_data();
  for (int64_t b = 0; b < x.dim(0); ++b)
    for (int64_t t = context.mask.key_lengths[b]; t < x.dim(1); ++t)
      std::fill_n(to + (b * x.dim(1) + t) * x.dim(2), x.dim(2), static_cast<real>(1000 + t));
  CHECK(seen(mixing, other.set_requires_grad(), context) == before);
}

Tensor reordered(const Tensor& x, const Ids& from) {
  const int64_t width = x.dim(-1);
  return embedding(x.reshape({x.size() / width, width}), from).reshape(x.shape());
}

}  // namespace heed::inline HEED_REAL::testing
