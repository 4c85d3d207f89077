// The op table: matrix products and attention.
#include <doctest/doctest.h>

#include <cmath>

#include "activation_definitions.h"
#include "core/random.h"
#include "core/scope.h"
#include "op_table.h"

namespace heed::inline HEED_REAL::testing {
namespace {

TEST_CASE("op table: linear") {
  const auto row = [](bool bias, const Shape& x, const Shape& result, const Shape& large) {
    std::vector<Shape> inputs{x, {4, x[-1]}}, large_inputs{large, {50, large[-1]}};
    if (bias) inputs.push_back({4}), large_inputs.push_back({50});
    return OpRow{
        .name = fmt::format("linear: {}{}", x, bias ? " with bias" : ""),
        .inputs = inputs,
        .result = result,
        .op = [=](Tensors t) { return linear(t[0], t[1], bias ? t[2] : Tensor()); },
        .definition =
            [=](Arrays t, const Index& i) {
              const Index o = index_of({1, 1}, 0).with(0, i[-1]);
              return sum_over(t[0].shape[-1],
                              [&](int64_t k) { return t[0](i.with(-1, k)) * t[1](o.with(1, k)); }) +
                     (bias ? t[2](i) : 0);
            },
        .large = large_inputs,
        .misuses = {MISUSE(linear(Tensor::zeros({2, 3}), Tensor::zeros({3, 2}))),
                    MISUSE(linear(Tensor::zeros({2}), Tensor::zeros({2}))),
                    MISUSE(linear(Tensor::zeros({3}), Tensor::zeros({2, 3}), Tensor::zeros({3})))}};
  };
  check_rows(std::vector<OpRow>{
      row(true, {2, 3, 5}, {2, 3, 4}, {30, 10, 100}),
      row(false, {6, 5}, {6, 4}, {300, 170}),
      row(true, {5}, {4}, {700}),
  });
}

TEST_CASE("op table: linear with every activation") {
  for (const ActivationDefinition& f : definitions::all)
    check_rows(
        std::vector<OpRow>{{.name = fmt::format("linear: {}", f.name),
                            .inputs = {{2, 3, 5}, {4, 5}, {4}},
                            .result = {2, 3, 4},
                            .op = [&](Tensors t) { return linear(t[0], t[1], t[2], f.function); },
                            .definition =
                                [&](Arrays t, const Index& i) {
                                  const Index o = index_of({1, 1}, 0).with(0, i[-1]);
                                  const auto term = [&](int64_t k) {
                                    return t[0](i.with(-1, k)) * t[1](o.with(1, k));
                                  };
                                  return f.value(sum_over(t[0].shape[-1], term) + t[2](i));
                                },
                            .large = {{30, 10, 100}, {50, 100}, {50}}}});
}

TEST_CASE("op table: matmul") {
  const auto row = [](const Shape& a, const Shape& b, const Shape& result,
                      std::vector<Shape> large) {
    return OpRow{.name = fmt::format("matmul: {} by {}", a, b),
                 .inputs = {a, b},
                 .result = result,
                 .op = [](Tensors x) { return matmul(x[0], x[1]); },
                 .definition =
                     [](Arrays x, const Index& i) {
                       return sum_over(x[0].shape[-1], [&](int64_t k) {
                         return x[0](i.with(-1, k)) * x[1](i.with(-2, k));
                       });
                     },
                 .large = std::move(large),
                 .misuses = {MISUSE(matmul(Tensor::zeros({2, 3}), Tensor::zeros({2, 3}))),
                             MISUSE(matmul(Tensor::zeros({3}), Tensor::zeros({3, 2}))),
                             MISUSE(matmul(Tensor::zeros({2, 2, 2}), Tensor::zeros({3, 2, 2})))}};
  };
  check_rows(std::vector<OpRow>{
      row({3, 4}, {4, 5}, {3, 5}, {{200, 130}, {130, 90}}),
      row({2, 3, 4}, {2, 4, 2}, {2, 3, 2}, {{30, 40, 30}, {30, 30, 20}}),
      row({2, 1, 3, 4}, {3, 4, 2}, {2, 3, 3, 2}, {{4, 1, 33, 40}, {3, 40, 20}}),
      row({3, 4}, {2, 4, 2}, {2, 3, 2}, {{33, 40}, {20, 40, 20}}),
      row({2, 3, 4}, {4, 2}, {2, 3, 2}, {{20, 33, 40}, {40, 20}}),
  });
}

// Attention, written out: the weights of one query and head, and their mean of the values.
struct Attention {
  int64_t heads;
  AttentionOptions options;

  double operator()(Arrays x, const Index& i) const {
    const Array &q = x[0], &k = x[1], &v = x[2];
    const int64_t queries = q.shape[1], keys = k.shape[1], width = q.shape[2] / heads;
    const int64_t b = i[0], t = i[1], h = i[2] / (v.shape[2] / heads);
    const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(width)));
    double total = 0, result = 0;
    for (int64_t j = 0; j < keys; ++j) {
      if (!options.mask.keeps(b, h, t, j, queries, keys)) continue;
      const double score = sum_over(width, [&](int64_t c) {
        return q(i.with(2, h * width + c)) * k(i.with(1, j).with(2, h * width + c));
      });
      const double weight = std::exp(scale * score);
      total += weight;
      result += weight * factor(((b * heads + h) * queries + t) * keys + j) * v(i.with(1, j));
    }
    return total == 0 ? 0 : result / total;
  }
  // The dropout factor of one weight.
  double factor(int64_t element) const {
    if (options.dropout == 0) return 1;
    const auto word = static_cast<uint64_t>(element);
    const uint32_t bits = StreamKey(5, Purpose::dropout).block(word / 4)[word % 4];
    return bits < static_cast<uint32_t>(options.dropout * 0x1p32) ? 0 : 1 / (1 - options.dropout);
  }
};

OpRow attention_row(const std::string& what, const Attention& attention, int64_t batch,
                    int64_t queries, int64_t keys, std::vector<Shape> large = {}) {
  const int64_t heads = attention.heads, width = 3, value_width = 2;
  return {.name = "scaled_dot_product_attention: " + what,
          .inputs = {{batch, queries, heads * width},
                     {batch, keys, heads * width},
                     {batch, keys, heads * value_width}},
          .result = {batch, queries, heads * value_width},
          .op =
              [=](Tensors x) {
                ScopeGuard here;
                here->training = true;
                here->seed = 5;
                here->step = here->micro_batch = here->calls = 0;
                return scaled_dot_product_attention(x[0], x[1], x[2], heads, attention.options);
              },
          .definition = attention,
          .large = std::move(large),
          .misuses = {[] {
                        const Tensor x = Tensor::zeros({1, 2, 4});
                        scaled_dot_product_attention(x, x, x, 3);
                      },
                      [] {
                        const Tensor x = Tensor::zeros({1, 2, 4}), y = Tensor::zeros({1, 3, 4});
                        scaled_dot_product_attention(x, y, x, 2);
                      },
                      [] {
                        const Tensor x = Tensor::zeros({2, 2, 4});
                        AttentionOptions options;
                        options.mask.key_lengths = Ids::from({2}, {1, 3});
                        scaled_dot_product_attention(x, x, x, 2, options);
                      }}};
}

TEST_CASE("op table: scaled_dot_product_attention") {
  AttentionOptions causal, window, both, lengths, dense, all, scaled, dropped;
  causal.mask.causal = true;
  window.mask.window = 2;
  both.mask.causal = true;
  both.mask.window = 2;
  lengths.mask.key_lengths = Ids::from({3}, {4, 0, 2});
  dense.mask.dense = random_ids({2, 2, 4, 5}, 2);
  for (int64_t j = 0; j < 5; ++j)
    dense.mask.dense.mutable_data()[5 + j] = 0;  // a query without a visible key
  all.mask = {true, 4, Ids::from({2}, {5, 3}), random_ids({1, 2, 4, 5}, 2)};
  all.dropout = 0.25;
  scaled.scale = 0.9;
  dropped.dropout = 0.4;
  const std::vector<Shape> large{{2, 150, 60}, {2, 300, 60}, {2, 300, 40}};  // several blocks
  check_rows(std::vector<OpRow>{
      attention_row("open", {2, {}}, 2, 4, 5, large),
      attention_row("one head", {1, {}}, 2, 3, 3),
      attention_row("causal", {2, causal}, 1, 5, 5, {{1, 200, 64}, {1, 200, 64}, {1, 200, 64}}),
      attention_row("causal, fewer queries", {2, causal}, 2, 2, 5),
      attention_row("causal, fewer keys", {2, causal}, 2, 5, 2),
      attention_row("window", {2, window}, 2, 5, 5, {{2, 150, 60}, {2, 150, 60}, {2, 150, 40}}),
      attention_row("causal window", {2, both}, 2, 5, 5),
      attention_row("key lengths", {2, lengths}, 3, 4, 5,
                    {{3, 100, 60}, {3, 300, 60}, {3, 300, 40}}),
      attention_row("dense mask", {2, dense}, 2, 4, 5),
      attention_row("scale", {2, scaled}, 2, 4, 5),
      attention_row("dropout", {2, dropped}, 2, 4, 5, large),
      attention_row("everything", {2, all}, 2, 4, 5),
  });
}

TEST_CASE("scaled_dot_product_attention: every input that does not fit is rejected") {
  const auto rejects = [](const Shape& q, const Shape& k, const Shape& v, int64_t heads = 2,
                          const AttentionOptions& options = {}, int needs_gradient = -1) {
    std::array x{Tensor::zeros(q), Tensor::zeros(k), Tensor::zeros(v)};
    if (needs_gradient >= 0) x[static_cast<size_t>(needs_gradient)].set_requires_grad();
    const std::string shapes = fmt::format("{}, {}, {}", q, k, v);
    CAPTURE(shapes);
    CHECK_THROWS_WITH_AS(scaled_dot_product_attention(x[0], x[1], x[2], heads, options),
                         doctest::Contains("scaled_dot_product_attention"), Error);
  };
  const Shape fits{2, 3, 4};
  rejects({3, 4}, fits, fits);  // rank
  rejects(fits, {3, 4}, fits);
  rejects(fits, fits, {3, 4});
  rejects({1, 3, 4}, fits, fits);  // batch
  rejects(fits, {1, 3, 4}, {1, 3, 4});
  rejects(fits, fits, {1, 3, 4});
  rejects(fits, fits, {2, 1, 4});  // time of k and v
  rejects({2, 3, 6}, fits, fits);  // width of q and k
  rejects(fits, fits, {2, 3, 3});  // heads
  rejects({2, 3, 3}, {2, 3, 3}, fits);
  rejects(fits, fits, fits, 0);
  AttentionOptions options;
  for (const int64_t keys : {-1, 4}) {
    options.keys = keys;
    rejects(fits, fits, fits, 2, options);
  }
  options.keys = 2;
  for (const int input : {0, 1, 2}) rejects(fits, fits, fits, 2, options, input);
  options.keys = 0;
  for (const double dropout : {-0.1, 1.0}) {
    options.dropout = dropout;
    rejects(fits, fits, fits, 2, options);
  }
}

TEST_CASE("scaled_dot_product_attention: keys in a cache with free space at the end") {
  const auto drawn = [](const Shape& shape) {
    Tensor x = Tensor::empty(shape);
    Random random(3, Purpose::initialisation, static_cast<uint32_t>(shape[1]));
    for (int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] = static_cast<real>(random.normal());
    return x;
  };
  // The rows of every example in an array of `capacity` rows; the free ones hold NaN, which would
  // spread.
  const auto with_capacity = [](const Tensor& x, int64_t capacity) {
    const Tensor behind = Tensor::full(x.shape().with(1, capacity - x.dim(1)), std::nan(""));
    return concat(std::vector<Tensor>{x, behind}, 1);
  };
  for (const int64_t queries : {1, 4})
    for (const int64_t keys : {5, 300}) {  // 300: more than one block
      const Tensor q = drawn({3, queries, 6}), k = drawn({3, keys, 6}), v = drawn({3, keys, 4});
      AttentionOptions options;
      options.mask = {true, 3, Ids::from({3}, {5, 0, 4}), {}};
      if (keys == 300) options.mask.window = options.mask.causal = 0, options.mask.key_lengths = {};
      const Tensor expected = scaled_dot_product_attention(q, k, v, 2, options);
      options.keys = keys;
      const Tensor got = scaled_dot_product_attention(q, with_capacity(k, keys + 7),
                                                      with_capacity(v, keys + 7), 2, options);
      for (int64_t i = 0; i < got.size(); ++i)
        CHECK(got.values()[static_cast<size_t>(i)] == expected.values()[static_cast<size_t>(i)]);
    }
  Tensor x = Tensor::zeros({1, 2, 4});
  AttentionOptions options;
  options.keys = 3;
  CHECK_THROWS_AS(scaled_dot_product_attention(x, x, x, 2, options), Error);
  options.keys = 1;
  scaled_dot_product_attention(x, x, x, 2, options);
  x.set_requires_grad();
  CHECK_THROWS_AS(scaled_dot_product_attention(x, x, x, 2, options), Error);
}

}  // namespace
}  // namespace heed::inline HEED_REAL::testing
