// Fused operations against their composed definitions: values and all gradients, at sizes that are
// divided into blocks with remainders.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/autograd.h"
#include "core/ops.h"
#include "values.h"

namespace heed::inline HEED_REAL {
namespace {

template <class Fused, class Composed>
void check_same(const std::vector<Shape>& shapes, Fused fused, Composed composed) {
  std::vector<Tensor> one, other;
  for (uint32_t i = 0; i < shapes.size(); ++i) {
    one.push_back(drawn(shapes[i], i).set_requires_grad());
    other.push_back(one.back().clone().set_requires_grad());
  }
  const Tensor y = fused(one), z = composed(other);
  constexpr double limit = 200 * std::numeric_limits<real>::epsilon();
  CHECK(difference(y, z) <= limit);
  const Tensor cotangent = drawn(y.shape(), 100);
  backward(y, cotangent);
  backward(z, cotangent);
  for (size_t i = 0; i < shapes.size(); ++i) {
    CAPTURE(i);
    CHECK(difference(one[i].grad(), other[i].grad()) <= limit);
  }
}

using FusedInputs = const std::vector<Tensor>&;

TEST_CASE("fused: linear with every activation") {
  for (const Named<Activation>& entry : activation_names) {
    const Activation function = entry.value;
    CAPTURE(entry.name);
    // Few rows; many, whose backward runs in blocks; and weights too large for blocks.
    const std::vector<Shape> sizes[] = {{{130, 70}, {91, 70}, {91}},
                                        {{5, 80, 70}, {91, 70}, {91}},
                                        {{270, 230}, {290, 230}, {290}}};
    for (const std::vector<Shape>& shapes : sizes) {
      check_same(
          shapes, [&](FusedInputs t) { return linear(t[0], t[1], t[2], function); },
          [&](FusedInputs t) { return activate(function, linear(t[0], t[1]) + t[2]); });
      check_same(
          {shapes[0], shapes[1]}, [&](FusedInputs t) { return linear(t[0], t[1], {}, function); },
          [&](FusedInputs t) {
            const Tensor x = t[0].reshape({t[0].size() / t[0].dim(-1), t[0].dim(-1)});
            const Tensor h = activate(function, matmul(x, transpose(t[1], 0, 1)));
            return h.reshape(t[0].shape().with_last(t[1].dim(0)));
          });
    }
  }
}

TEST_CASE("fused: linear with one tensor as input and weight") {
  constexpr real share = real{1} / 32;  // gradients are sums of 512 terms
  check_same(
      {{256, 60}}, [](FusedInputs t) { return mul(linear(t[0], t[0]), share); },
      [](FusedInputs t) { return mul(matmul(t[0], transpose(t[0], 0, 1)), share); });
}

TEST_CASE("fused: the gradient of a bias is the sum of the sums over 128 rows each") {
  constexpr int64_t rows = 256, width = 3;
  const Tensor b = drawn({width}, 1).set_requires_grad(), dy = drawn({rows, width}, 2);
  backward(linear(drawn({rows, 2}, 3), drawn({width, 2}, 4), b), dy);
  for (int64_t j = 0; j < width; ++j) {
    const auto sum_of = [&](int64_t first) {
      real total = 0;
      for (int64_t n = first; n < first + 128; ++n) total += dy.data()[n * width + j];
      return total;
    };
    CHECK(b.grad().data()[j] == sum_of(0) + sum_of(128));
  }
}

// softmax(masked scores) v for `heads` heads, composed of simple operations.
Tensor composed_attention(FusedInputs t, int64_t heads, const KeepMask& mask) {
  const auto by_head = [heads](const Tensor& x) {
    return permute(x.reshape({x.dim(0), x.dim(1), heads, x.dim(2) / heads}), {0, 2, 1, 3});
  };
  const Tensor q = by_head(t[0]), k = by_head(t[1]), v = by_head(t[2]);
  const real scale = 1 / std::sqrt(static_cast<real>(q.dim(-1)));
  const Tensor scores = mul(matmul(q, transpose(k, 2, 3)), scale);
  const real hidden = -std::numeric_limits<real>::infinity();
  const Tensor y = permute(matmul(softmax(masked_fill(scores, mask, hidden)), v), {0, 2, 1, 3});
  return y.reshape({y.dim(0), y.dim(1), heads * y.dim(3)});
}

TEST_CASE("fused: attention, at the boundaries of blocks of queries and keys") {
  struct Length {
    int64_t queries, keys;
  };
  KeepMask causal, window, both, lengths;
  causal.causal = both.causal = true;
  window.window = 5;
  both.window = 140;
  for (const Length& length :
       {Length{15, 40}, {16, 17}, {40, 40}, {70, 70}, {33, 300}, {300, 300}}) {
    const auto queries = length.queries, keys = length.keys;
    lengths.key_lengths = Ids::from({2}, {static_cast<int32_t>(keys), 7});
    for (const KeepMask& mask : {KeepMask{}, causal, window, both, lengths}) {
      INFO(std::string(fmt::format("{} queries, {} keys, causal {}, window {}", queries, keys,
                                   mask.causal, mask.window)));
      AttentionOptions options;
      options.mask = mask;
      check_same(
          {{2, queries, 20}, {2, keys, 20}, {2, keys, 36}},
          [&](FusedInputs t) { return scaled_dot_product_attention(t[0], t[1], t[2], 2, options); },
          [&](FusedInputs t) { return composed_attention(t, 2, mask); });
    }
  }
}

bool all_finite(const Tensor& x) {
  return std::all_of(x.data(), x.data() + x.size(), [](real v) { return std::isfinite(v); });
}

TEST_CASE("fused: attention does not read keys that every query masks") {
  for (const int64_t queries : {1, 40}) {
    AttentionOptions options;
    options.mask.causal = true;
    options.mask.window = 4;
    Tensor t[3] = {drawn({1, queries, 20}, 0), drawn({1, 300, 20}, 1), drawn({1, 300, 36}, 2)};
    const int64_t unseen = 300 - queries - 3;  // keys before the first query's window
    for (Tensor& x : {std::ref(t[1]), std::ref(t[2])})
      std::fill_n(x.mutable_data(), unseen * x.dim(2), std::numeric_limits<real>::infinity());
    for (Tensor& x : t) x.set_requires_grad();
    const Tensor y = scaled_dot_product_attention(t[0], t[1], t[2], 2, options);
    backward(y, drawn(y.shape(), 100));
    CHECK(all_finite(y));
    CHECK(all_finite(t[0].grad()));
  }
}

TEST_CASE("mse_loss: more elements than 64 chunks") {
  const Tensor x = Tensor::zeros({(int64_t{64} << 14) + 3}), y = Tensor::full(x.shape(), 2);
  CHECK(mse_loss(x, y).item() == 4);
}

TEST_CASE("layer_norm: rows with a partial vector, whose squares overflow") {
  Tensor x = Tensor::full({2, 20}, static_cast<real>(3e36)).set_requires_grad();
  const Tensor w = Tensor::full({20}, 1), b = Tensor::zeros({20});
  backward(layer_norm(x, w, b, static_cast<real>(1e-5)), drawn({2, 20}, 1));
  CHECK(all_finite(x.grad()));
}

}  // namespace
}  // namespace heed::inline HEED_REAL
