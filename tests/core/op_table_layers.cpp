// The op table: softmax, norms, embedding, losses, matrix products, attention.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "core/scope.h"
#include "op_check.h"

namespace heed::inline HEED_REAL::testing {
namespace {

// Σ f(k), k < n
template <class F>
double sum_over(int64_t n, F f) {
  double total = 0;
  for (int64_t k = 0; k < n; ++k) total += f(k);
  return total;
}

// A number in [0, n) for each element.
Ids random_ids(const Shape& shape, int64_t n) {
  Ids ids = Ids::empty(shape);
  Random random(11, Purpose::test);
  for (int64_t i = 0; i < shape.size(); ++i)
    ids.data()[i] = static_cast<int32_t>(random.below(static_cast<uint64_t>(n)));
  return ids;
}

TEST_CASE("op table: softmax, log_softmax") {
  const auto row = [](bool log, int axis, const Shape& shape, const Shape& large) {
    return OpRow{
        .name = fmt::format("{}: axis {} of {}", log ? "log_softmax" : "softmax", axis, shape),
        .inputs = {shape},
        .result = shape,
        .op = [=](Tensors x) { return log ? log_softmax(x[0], axis) : softmax(x[0], axis); },
        .definition =
            [=](Arrays x, const Index& i) {
              const double total = sum_over(
                  x[0].shape[axis], [&](int64_t k) { return std::exp(x[0](i.with(axis, k))); });
              return log ? x[0](i) - std::log(total) : std::exp(x[0](i)) / total;
            },
        .low = -5,
        .high = 5,
        .large = {large},
        .misuses = {[=] {
          log ? log_softmax(Tensor::zeros({3}), 1) : softmax(Tensor::zeros({3}), 1);
        }}};
  };
  for (const bool log : {false, true})
    check_rows(std::vector<OpRow>{
        row(log, -1, {3, 5}, {500, 70}),
        row(log, 1, {2, 37}, {4, 12001}),
        row(log, 0, {5, 3}, {100, 400}),
        row(log, 1, {2, 4, 3}, {5, 30, 270}),
        row(log, 2, {2, 2, 1}, {200, 2, 100}),
        row(log, 0, {6}, {20000}),
    });
}

TEST_CASE("op table: layer_norm, rms_norm") {
  constexpr double epsilon = 1e-3;
  const auto centred = [](const Array& x, const Index& i, bool subtract) {
    const int64_t width = x.shape[-1];
    const auto n = static_cast<double>(width);
    const double mean =
        subtract ? sum_over(width, [&](int64_t k) { return x(i.with(-1, k)); }) / n : 0;
    const double variance =
        sum_over(width, [&](int64_t k) { return std::pow(x(i.with(-1, k)) - mean, 2); }) / n;
    return (x(i) - mean) / std::sqrt(variance + epsilon);
  };
  const auto misfits = [](auto norm) {
    return std::vector<std::function<void()>>{[=] {
                                                norm(Tensor::zeros({2, 3}), Tensor::zeros({2}));
                                              },
                                              [=] { norm(Tensor::scalar(1), Tensor()); }};
  };
  const auto layer_norm_of = [=](const Tensor& x, const Tensor& w) {
    return layer_norm(x, w, w, epsilon);
  };
  const auto rms_norm_of = [=](const Tensor& x, const Tensor& w) {
    return rms_norm(x, w, epsilon);
  };
  check_rows(std::vector<OpRow>{
      {.name = "layer_norm",
       .inputs = {{2, 3, 19}, {19}, {19}},
       .result = {2, 3, 19},
       .op = [=](Tensors x) { return layer_norm(x[0], x[1], x[2], epsilon); },
       .definition = [=](Arrays x,
                         const Index& i) { return centred(x[0], i, true) * x[1](i) + x[2](i); },
       .large = {{30, 10, 130}, {130}, {130}},
       .misuses = misfits(layer_norm_of)},
      {.name = "layer_norm: without bias",
       .inputs = {{4, 5}, {5}},
       .result = {4, 5},
       .op = [=](Tensors x) { return layer_norm(x[0], x[1], {}, epsilon); },
       .definition = [=](Arrays x, const Index& i) { return centred(x[0], i, true) * x[1](i); },
       .large = {{9001, 5}, {5}}},
      {.name = "layer_norm: without weight",
       .inputs = {{4, 5}, {5}},
       .result = {4, 5},
       .op = [=](Tensors x) { return layer_norm(x[0], {}, x[1], epsilon); },
       .definition = [=](Arrays x, const Index& i) { return centred(x[0], i, true) + x[1](i); },
       .large = {{3, 12001}, {12001}}},
      {.name = "layer_norm: plain",
       .inputs = {{7}},
       .result = {7},
       .op = [=](Tensors x) { return layer_norm(x[0], {}, {}, epsilon); },
       .definition = [=](Arrays x, const Index& i) { return centred(x[0], i, true); }},
      {.name = "rms_norm",
       .inputs = {{2, 3, 19}, {19}},
       .result = {2, 3, 19},
       .op = [=](Tensors x) { return rms_norm(x[0], x[1], epsilon); },
       .definition = [=](Arrays x, const Index& i) { return centred(x[0], i, false) * x[1](i); },
       .large = {{30, 10, 130}, {130}},
       .misuses = misfits(rms_norm_of)},
      {.name = "rms_norm: plain",
       .inputs = {{4, 5}},
       .result = {4, 5},
       .op = [=](Tensors x) { return rms_norm(x[0], {}, epsilon); },
       .definition = [=](Arrays x, const Index& i) { return centred(x[0], i, false); }},
  });
}

TEST_CASE("op table: embedding") {
  const auto row = [](const Shape& table, const Ids& ids, const Shape& large_table) {
    return OpRow{.name = fmt::format("embedding: {} from {}", ids.shape(), table),
                 .inputs = {table},
                 .result = ids.shape().inserted(ids.shape().rank(), table[1]),
                 .op = [=](Tensors x) { return embedding(x[0], ids); },
                 .definition =
                     [=](Arrays x, const Index& i) {
                       int64_t n = 0;
                       for (int a = 0; a + 1 < i.rank; ++a) n = n * ids.dim(a) + i[a];
                       const Index place = index_of({1, 1}, 0);
                       return x[0](place.with(0, ids[n]).with(1, i[-1]));
                     },
                 .large = {large_table},
                 .misuses = {[] {
                               embedding(Tensor::zeros({3, 2}), Ids::from({2}, {0, 3}));
                             },
                             [] {
                               embedding(Tensor::zeros({3, 2}), Ids::from({1}, {-1}));
                             },
                             [] { embedding(Tensor::zeros({3}), Ids::from({1}, {0})); }}};
  };
  check_rows(std::vector<OpRow>{
      row({5, 3}, Ids::from({2, 3}, {4, 0, 4, 4, 1, 0}), {5, 9000}),
      row({5, 20}, Ids::from({}, {2}), {40, 1000}),
      row({300, 2}, random_ids({400}, 300), {300, 150}),
  });
}

// Cross entropy as its definition says it.
double cross_entropy_of(const Array& logits, const Ids& targets, double smoothing) {
  const int64_t classes = logits.shape[-1];
  double loss = 0;
  for (int64_t n = 0; n < targets.size(); ++n) {
    if (targets[n] == ignored) continue;
    const double* x = logits.values.data() + n * classes;
    const double log_total = std::log(sum_over(classes, [&](int64_t v) { return std::exp(x[v]); }));
    loss -= sum_over(classes, [&](int64_t v) {
      const double p =
          (v == targets[n] ? 1 - smoothing : 0) + smoothing / static_cast<double>(classes);
      return p * (x[v] - log_total);
    });
  }
  return loss;
}

TEST_CASE("op table: cross_entropy, mse_loss") {
  const auto row = [](const Shape& logits, const Ids& targets, double smoothing,
                      const Shape& large) {
    return OpRow{
        .name = fmt::format("cross_entropy: {}, smoothing {}", logits, smoothing),
        .inputs = {logits},
        .result = {},
        .op = [=](Tensors x) { return cross_entropy(x[0], targets, smoothing); },
        .definition = [=](Arrays x,
                          const Index&) { return cross_entropy_of(x[0], targets, smoothing); },
        .low = -4,
        .high = 4,
        .large = large.rank() ? std::vector<Shape>{large} : std::vector<Shape>{},
        .misuses = {[] {
                      cross_entropy(Tensor::zeros({2, 3}), Ids::from({2}, {0, 3}));
                    },
                    [] {
                      cross_entropy(Tensor::zeros({2, 3}), Ids::from({2}, {-2, 0}));
                    },
                    [] {
                      cross_entropy(Tensor::zeros({2, 3}), Ids::from({3}, {0, 0, 0}));
                    },
                    [] {
                      cross_entropy(Tensor::zeros({2, 3}), Ids::from({2}, {0, 0}), 1.5);
                    },
                    [] { cross_entropy(Tensor::scalar(0), Ids::from({}, {0})); }}};
  };
  Ids many = random_ids({40, 5}, 2);
  for (int64_t i = 0; i < many.size(); i += 7) many.data()[i] = ignored;
  check_rows(std::vector<OpRow>{
      row({4, 5}, Ids::from({4}, {0, 4, 2, 2}), 0, {}),
      row({2, 2, 37}, Ids::from({2, 2}, {0, ignored, 36, 2}), 0, {}),
      row({2, 2, 37}, Ids::from({2, 2}, {0, ignored, 36, 2}), 0.1, {}),
      row({3, 4}, Ids::full({3}, ignored), 0.1, {}),
      row({6}, Ids::from({}, {3}), 0.3, {20000}),
      row({40, 5, 2}, many, 0, {40, 5, 190}),
      row({40, 5, 2}, many, 0.1, {40, 5, 190}),
  });
  check_rows(std::vector<OpRow>{
      {.name = "mse_loss",
       .inputs = {{3, 21}, {3, 21}},
       .result = {},
       .op = [](Tensors x) { return mse_loss(x[0], x[1]); },
       .definition =
           [](Arrays x, const Index&) {
             return sum_over(x[0].shape.size(),
                             [&](int64_t k) {
                               const auto i = static_cast<size_t>(k);
                               return std::pow(x[0].values[i] - x[1].values[i], 2);
                             }) /
                    static_cast<double>(x[0].shape.size());
           },
       .large = {{200, 201}, {200, 201}},
       .misuses = {[] {
                     mse_loss(Tensor::zeros({2, 3}), Tensor::zeros({3}));
                   },
                   [] { mse_loss(Tensor::zeros({0}), Tensor::zeros({0})); }}}});
}

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
        .misuses = {[] {
                      linear(Tensor::zeros({2, 3}), Tensor::zeros({3, 2}));
                    },
                    [] { linear(Tensor::zeros({2}), Tensor::zeros({2})); },
                    [] {
                      linear(Tensor::zeros({3}), Tensor::zeros({2, 3}), Tensor::zeros({3}));
                    }}};
  };
  check_rows(std::vector<OpRow>{
      row(true, {2, 3, 5}, {2, 3, 4}, {30, 10, 100}),
      row(false, {6, 5}, {6, 4}, {300, 170}),
      row(true, {5}, {4}, {700}),
  });
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
                 .misuses = {[] {
                               matmul(Tensor::zeros({2, 3}), Tensor::zeros({2, 3}));
                             },
                             [] {
                               matmul(Tensor::zeros({3}), Tensor::zeros({3, 2}));
                             },
                             [] {
                               matmul(Tensor::zeros({2, 2, 2}), Tensor::zeros({3, 2, 2}));
                             }}};
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
    const double scale =
        options.scale != 0 ? options.scale : 1 / std::sqrt(static_cast<double>(width));
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
  // What dropout makes of one weight.
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
  for (int64_t j = 0; j < 5; ++j) dense.mask.dense.data()[5 + j] = 0;  // a query that sees nothing
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

}  // namespace
}  // namespace heed::inline HEED_REAL::testing
