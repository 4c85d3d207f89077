// Multi-head attention in every form against its definition, head by head.
#include "nn/forms/attention.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "checks.h"
#include "core/autograd.h"
#include "core/ops.h"
#include "gradient_check.h"
#include "nn/forms/mixings.h"
#include "nn/learned_queries.h"
#include "support.h"

using namespace heed;
using namespace heed::testing;

namespace {

// The same layer of heads one by one: projections cut by head, their results combined by formula.
Tensor by_the_book(const AttentionForm& attention, const HeadWidths& widths, Combine combine,
                   const Tensor& x, const Tensor& context) {
  std::vector<NamedParameter> parameters = attention.parameters();
  const auto get = [&](const std::string& name) {
    for (const NamedParameter& p : parameters)
      if (p.name == name) return p.tensor;
    FAIL(name);
    return Tensor();
  };
  const auto rows = [&](const char* part, const std::vector<int64_t>& sizes, size_t h) {
    int64_t first = 0;
    for (size_t i = 0; i < h; ++i) first += sizes[i];
    const std::string name = part;
    return std::pair(slice(get(name + ".weight"), 0, first, first + sizes[h]),
                     slice(get(name + ".bias"), 0, first, first + sizes[h]));
  };
  std::vector<Tensor> heads;
  for (size_t h = 0; h < widths.key.size(); ++h) {
    const auto [wq, bq] = rows("query", widths.key, h);
    const auto [wk, bk] = rows("key", widths.key, h);
    const auto [wv, bv] = rows("value", widths.value, h);
    const Tensor scores = mul(matmul(linear(x, wq, bq), transpose(linear(context, wk, bk), 1, 2)),
                              1 / std::sqrt(static_cast<real>(widths.key[h])));
    heads.push_back(matmul(softmax(scores), linear(context, wv, bv)));
  }
  const Tensor beside = concat(heads, -1);
  if (combine == Combine::concat_projection)
    return linear(beside, get("output.weight"), get("output.bias"));
  if (combine == Combine::concat) return beside;
  const Tensor stacked = stack(heads, 0);  // (H, B, T, V)
  if (combine == Combine::mean) return mean(stacked, {0});
  if (combine == Combine::max) return max(stacked, {0});
  Tensor total;
  for (size_t h = 0; h < heads.size(); ++h) {
    const auto i = static_cast<int64_t>(h);
    const Tensor w = slice(get("head_weight"), 0, i, i + 1);
    const Tensor part = combine == Combine::weighted
                            ? heads[h] * w
                            : matmul(heads[h], w.reshape({w.dim(1), w.dim(2)}));
    total = total ? total + part : part;
  }
  return total;
}

}  // namespace

TEST_CASE("attention: heads with a weight each start as their mean") {
  const AttentionForm attention(8, 4, {.combine = Combine::weighted});
  int64_t found = 0;
  for (const NamedParameter& p : attention.parameters())
    if (p.name == "head_weight") found += std::ranges::count(p.tensor.values(), real{0.25});
  CHECK(found == 4);
}

TEST_CASE("a query that may attend to no key has zero outputs and zero gradients, in every form") {
  KeepMask mask;
  mask.key_lengths = Ids::from({2}, {3, 0});
  for (const SimilarityRule* similarity : similarities::all)
    for (const NormaliserRule* normaliser : normalisers::all) {
      CAPTURE(std::string(similarity->name));
      CAPTURE(std::string(normaliser->name));
      const AttentionForm attention(4, 2, setup_of([&](MultiHeadAttentionOptions& o) {
                                      o.similarity = similarity;
                                      o.normaliser = normaliser;
                                      o.combine = Combine::concat;
                                    }));
      const Tensor x = random_tensor({2, 3, 4}, 1);
      const Tensor y = attention(x, x, mask);
      backward(read_out(y));
      for (int64_t i = 0; i < 12; ++i) {
        CHECK(y.data()[12 + i] == 0);
        CHECK(x.grad().data()[12 + i] == 0);
        CHECK(std::isfinite(x.grad().data()[i]));
      }
    }
}

TEST_CASE("heads of any widths, combined in any way, are heads computed one by one") {
  struct Form {
    std::string name;
    std::function<void(MultiHeadAttentionOptions&)> change;
  };
  const Form forms[] = {
      {"narrow", [](MultiHeadAttentionOptions&) {}},
      {"wide", [](MultiHeadAttentionOptions& o) { o.head_width = HeadWidth::wide; }},
      {"separate widths", [](MultiHeadAttentionOptions& o) { o.key_dim = 3, o.value_dim = 5; }},
      {"a list",
       [](MultiHeadAttentionOptions& o) {
         o.key_dims = {1, 5}, o.value_dims = {4, 2};
       }},
      {"concat", [](MultiHeadAttentionOptions& o) { o.combine = Combine::concat; }},
      {"concat of a list",
       [](MultiHeadAttentionOptions& o) {
         o.combine = Combine::concat, o.value_dims = {1, 5};
       }},
      {"weighted", [](MultiHeadAttentionOptions& o) { o.combine = Combine::weighted; }},
      {"weighted list",
       [](MultiHeadAttentionOptions& o) {
         o.combine = Combine::weighted, o.key_dims = {4, 1};
       }},
      {"tensor", [](MultiHeadAttentionOptions& o) { o.combine = Combine::tensor; }},
      {"mean", [](MultiHeadAttentionOptions& o) { o.combine = Combine::mean; }},
      {"max", [](MultiHeadAttentionOptions& o) { o.combine = Combine::max; }},
  };
  for (const Form& form : forms) {
    CAPTURE(form.name);
    MultiHeadAttentionOptions setup = setup_of(form.change);
    setup.context_dim = 5;
    const AttentionForm attention(6, 2, setup);
    shake(attention);
    const Tensor x = random_tensor({2, 3, 6}, 1), context = random_tensor({2, 4, 5}, 2);
    const Tensor y = attention(x, context, {});
    CHECK(y.shape() == Shape{2, 3, 6});
    check_same(y, by_the_book(attention, head_widths(setup, 6, 2), setup.combine, x, context));
    std::vector<NamedParameter> inputs = attention.parameters();
    inputs.push_back({"x", x});
    inputs.push_back({"context", context});
    check_gradients(inputs, [&] { return read_out(attention(x, context, {})); });
  }
}

TEST_CASE("attention over features, of another width or with hidden projections has gradients") {
  struct Form {
    std::string name;
    std::function<void(MultiHeadAttentionOptions&)> change;
    int64_t width;
  };
  const Form forms[] = {
      {"features", [](MultiHeadAttentionOptions& o) { o.over = Over::features; }, 6},
      {"features of a list",
       [](MultiHeadAttentionOptions& o) {
         o.over = Over::features, o.key_dims = {1, 3}, o.temperature = 0.5;
       },
       6},
      {"hidden", [](MultiHeadAttentionOptions& o) { o.projection_hidden = 3; }, 6},
      {"wider", [](MultiHeadAttentionOptions& o) { o.output_dim = 9; }, 9},
      {"wider, mean",
       [](MultiHeadAttentionOptions& o) {
         o.output_dim = 9, o.combine = Combine::mean, o.key_dim = 2;
       },
       9},
      {"wider, tensor",
       [](MultiHeadAttentionOptions& o) { o.output_dim = 4, o.combine = Combine::tensor; }, 4},
  };
  for (const Form& form : forms) {
    CAPTURE(form.name);
    const AttentionForm attention(6, 2, setup_of(form.change));
    shake(attention);
    const Tensor x = random_tensor({2, 5, 6}, 1);
    const SequenceContext padded{.mask = {.key_lengths = Ids::from({2}, {5, 3})}};
    CHECK(attention(x, padded).shape() == Shape{2, 5, form.width});
    std::vector<NamedParameter> inputs = attention.parameters();
    inputs.push_back({"x", x});
    check_gradients(inputs, [&] { return read_out(attention(x, padded)); });
  }
}

TEST_CASE("attention over features is V softmax(QᵀK / √T), and not of positions") {
  const AttentionForm attention(4, 1, setup_of([](MultiHeadAttentionOptions& o) {
                                  o.over = Over::features;
                                  o.project_query = o.project_key = o.project_value = false;
                                  o.combine = Combine::concat;
                                }));
  const Tensor x = random_tensor({2, 9, 4}, 1);
  check_same(attention(x, SequenceContext{}),
             matmul(x, softmax(mul(matmul(transpose(x, 1, 2), x), real{1} / 3))));
  const auto error = [&](const std::function<void(MultiHeadAttentionOptions&)>& change) {
    return thrown<InputError>([&] {
      AttentionForm(4, 2, setup_of([&](MultiHeadAttentionOptions& o) {
                      o.over = Over::features;
                      change(o);
                    }));
    });
  };
  CHECK_CONTAINS(error([](auto& o) { o.causal = true; }), "it cannot be causal");
  CHECK_CONTAINS(error([](auto& o) { o.window = 3; }), "set `attention.window` = 0");
  CHECK_CONTAINS(error([](auto& o) { o.axes = {0}; }), "leave `attention.axes` empty");
  CHECK_CONTAINS(error([](auto& o) { o.graph_distances = 2; }), "graph_distances` = 0");
  CHECK_CONTAINS(error([](auto& o) { o.positional.kind = &positional_encodings::rotary; }),
                 "\"rotary\" relates pairs of positions");
  CHECK_CONTAINS(error([](auto& o) { o.similarity = &similarities::dot; }), "Qᵀ K / √T");
  CHECK_CONTAINS(error([](auto& o) { o.value_dim = 3; }), "values must be as wide as keys");
  CHECK_CONTAINS(thrown<Error>([&] {
                   attention(x, x, {});
                   attention.across(x, x, {.causal = true});
                 }),
                 "no causal mask");
  CHECK_CONTAINS(thrown<Error>([&] {
                   attention.across(x, random_tensor({2, 3, 4}, 2), {});
                 }),
                 "or other sequence");
}

TEST_CASE("heads of different widths have similarities of their own") {
  const AttentionForm attention(6, 2, setup_of([](MultiHeadAttentionOptions& o) {
                                  o.key_dims = {2, 3};
                                  o.value_dims = {3, 1};
                                  o.similarity = &similarities::general;
                                }));
  std::vector<std::string> names;
  for (const NamedParameter& p : attention.parameters()) names.push_back(p.name);
  CHECK(std::find(names.begin(), names.end(), "similarity.1.weight") != names.end());
  shake(attention);
  const Tensor x = random_tensor({1, 3, 6}, 1);
  std::vector<NamedParameter> inputs = attention.parameters();
  inputs.push_back({"x", x});
  check_gradients(inputs, [&] { return read_out(attention(x, SequenceContext{})); });
}

TEST_CASE("attention without projections has no parameters and is the basic attention") {
  const AttentionForm attention(4, 1, setup_of([](MultiHeadAttentionOptions& o) {
                                  o.project_query = o.project_key = o.project_value = false;
                                  o.combine = Combine::concat;
                                  o.similarity = &similarities::dot;
                                }));
  CHECK(attention.parameter_count() == 0);
  const Tensor x = random_tensor({2, 5, 4}, 1);
  check_same(attention(x, SequenceContext{}), matmul(softmax(matmul(x, transpose(x, 1, 2))), x));
}

TEST_CASE("identity matrices for projections change nothing") {
  MultiHeadAttentionOptions plain;
  plain.combine = Combine::concat;
  plain.linear.bias = false;
  const AttentionForm projected(4, 1, plain);
  for (const NamedParameter& p : projected.parameters())
    for (int64_t i = 0; i < 16; ++i) Tensor(p.tensor).mutable_data()[i] = i % 5 == 0;
  plain.project_query = plain.project_key = plain.project_value = false;
  const Tensor x = random_tensor({2, 5, 4}, 1);
  check_same(projected(x, SequenceContext{}), AttentionForm(4, 1, plain)(x, SequenceContext{}));
}

TEST_CASE("tied keys and values share one projection") {
  const AttentionForm tied(4, 2,
                           setup_of([](MultiHeadAttentionOptions& o) { o.tie_key_value = true; }));
  const MultiHeadAttention untied(4, 2);
  CHECK(untied.parameter_count() - tied.parameter_count() == 4 * 4 + 4);
  const Tensor x = random_tensor({2, 5, 4}, 1);
  std::vector<NamedParameter> inputs = tied.parameters();
  inputs.push_back({"x", x});
  check_gradients(inputs, [&] { return read_out(tied(x, SequenceContext{})); });
}

TEST_CASE("the fused kernel and the composed form are one function") {
  // A bias of zero changes nothing but the path.
  KeepMask mask;
  mask.window = 3;
  mask.key_lengths = Ids::from({2}, {5, 3});
  const Tensor no_bias = Tensor::zeros({2, 2, 5, 5});
  for (const ScoreScale scale : {ScoreScale::inverse_sqrt, ScoreScale::none})
    for (const double temperature : {1.0, 0.3}) {
      const AttentionForm attention(6, 2, setup_of([&](MultiHeadAttentionOptions& o) {
                                      o.scale = scale;
                                      o.temperature = temperature;
                                      o.value_dim = 4;
                                    }));
      shake(attention);
      const Tensor x = random_tensor({2, 5, 6}, 1);
      const Tensor fused = attention(x, x, mask), composed = attention(x, x, mask, no_bias);
      check_same(fused, composed);
      const auto gradients = [&](const Tensor& y) {
        backward(read_out(y));
        std::vector<Tensor> all;
        for (const NamedParameter& p : attention.parameters()) {
          all.push_back(p.tensor.grad().clone());
          Tensor(p.tensor).clear_grad();
        }
        return all;
      };
      const std::vector<Tensor> a = gradients(fused), b = gradients(composed);
      for (size_t i = 0; i < a.size(); ++i) check_same(a[i], b[i]);
    }
}

TEST_CASE("a bias of minus infinity hides a key as a mask does") {
  for (const std::vector<int64_t>& widths : {std::vector<int64_t>{}, {1, 3}}) {
    const AttentionForm attention(
        4, 2, setup_of([&](MultiHeadAttentionOptions& o) { o.key_dims = widths; }));
    const Tensor x = random_tensor({1, 3, 4}, 1);
    Tensor bias = Tensor::zeros({3, 3});
    bias.mutable_data()[1] = -std::numeric_limits<real>::infinity();
    KeepMask mask;
    mask.dense = Ids::full({1, 1, 3, 3}, 1);
    mask.dense.mutable_data()[1] = 0;
    check_same(attention(x, x, {}, bias), attention(x, x, mask));
  }
}

TEST_CASE("scores with rotary, alibi or relative positions depend only on distances") {
  for (const PositionalRule* kind : {&positional_encodings::rotary, &positional_encodings::alibi,
                                     &positional_encodings::relative}) {
    MultiHeadAttentionOptions setup;
    setup.positional.kind = kind;
    setup.positional.buckets = 8;
    const AttentionForm attention(8, 2, setup);
    shake(attention);
    // One vector everywhere except at one position: what a position reads depends on its distance.
    const auto output = [&](int64_t odd_one, int64_t reader) {
      Tensor x = Tensor::full({1, 9, 8}, real{0.3});
      for (int64_t c = 0; c < 8; ++c)
        x.mutable_data()[odd_one * 8 + c] = static_cast<real>(0.1 * static_cast<double>(c) - 0.5);
      KeepMask mask;  // a window of three positions, so that the ends have no effect
      mask.window = 2;
      return slice(attention(x, x, mask), 1, reader, reader + 1);
    };
    check_same(output(3, 4), output(5, 6));
    const Tensor before = output(3, 4), after = output(5, 4);
    double difference = 0;
    for (int64_t c = 0; c < 8; ++c)
      difference += std::abs(static_cast<double>(before.data()[c] - after.data()[c]));
    if (kind == &positional_encodings::alibi)
      CHECK(difference < 1e-5);  // both directions alike
    else
      CHECK(difference > 1e-3);
    const Tensor x = random_tensor({2, 4, 8}, 1);
    std::vector<NamedParameter> inputs = attention.parameters();
    inputs.push_back({"x", x});
    check_gradients(inputs, [&] { return read_out(attention(x, SequenceContext{})); });
  }
}

TEST_CASE("attention built causal or with a window is so without a mask that repeats it") {
  const Tensor x = random_tensor({2, 5, 4}, 1);
  const auto built = [&](bool causal, int64_t window, const NormaliserRule* normaliser) {
    ScopeGuard here;
    here->seed = 3, here->calls = 0;  // the same weights
    return std::make_unique<AttentionForm>(4, 2, setup_of([&](MultiHeadAttentionOptions& o) {
                                             o.causal = causal, o.window = window;
                                             o.normaliser = normaliser;
                                           }));
  };
  for (const NormaliserRule* normaliser : {&normalisers::softmax, &normalisers::count})
    for (const bool causal : {false, true})
      for (const int64_t window : {0, 2, 3}) {
        const KeepMask mask{.causal = causal, .window = window};
        const Tensor expected = (*built(false, 0, normaliser))(x, x, mask);
        const auto layer = built(causal, window, normaliser);
        check_same((*layer)(x, SequenceContext{}), expected);
        check_same((*layer)(x, x, {}), expected);
        check_same((*layer)(x, x, mask), expected);
        const int64_t narrower = window > 0 ? window : 4;
        check_same((*layer)(x, x, {.window = 4}), (*built(causal, narrower, normaliser))(x, x, {}));
      }
}

TEST_CASE("a layer of a stack built causal is causal, whatever exchanges its positions") {
  for (const MixingRule* mixing : mixings::all) {
    CAPTURE(std::string(mixing->name));
    const ModelOptions options{
        .dim = 4, .heads = 2, .attention = {.causal = true}, .mixing = {.kind = mixing}};
    if (!mixing->can_be_causal) {
      CHECK_THROWS_AS(EncoderLayer(options, 2), InputError);
      continue;
    }
    const EncoderLayer layer(options, 2);
    const Tensor x = random_tensor({1, 5, 4}, 1), other = random_tensor({1, 5, 4}, 2);
    const Tensor parts[] = {slice(x, 1, 0, 3), slice(other, 1, 3, 5)};
    const Tensor before = layer(x, {}), after = layer(concat(parts, 1), {});
    CHECK(relative_difference(slice(after, 1, 0, 3), slice(before, 1, 0, 3)) <= rounding);
    CHECK(relative_difference(slice(after, 1, 3, 5), slice(before, 1, 3, 5)) > 1e-3);
  }
}

TEST_CASE("a temperature changes from its initial to its final value at a constant ratio") {
  const MultiHeadAttentionOptions falling{
      .temperature = 2, .final_temperature = 0.5, .temperature_steps = 100};
  CHECK(temperature_at(falling, 0) == doctest::Approx(2));
  CHECK(temperature_at(falling, 50) == doctest::Approx(1));
  CHECK(temperature_at(falling, 100) == doctest::Approx(0.5));
  CHECK(temperature_at(falling, 1000) == doctest::Approx(0.5));
  CHECK(temperature_at({.temperature = 3}, 70) == 3);
  const MultiHeadAttentionOptions sudden{
      .temperature = 4, .final_temperature = 1, .temperature_steps = 1};
  CHECK(temperature_at(sudden, 0) == doctest::Approx(4));
  CHECK(temperature_at(sudden, 1) == doctest::Approx(1));

  const AttentionForm attention(4, 1, setup_of([](MultiHeadAttentionOptions& o) {
                                  o.temperature = 1, o.final_temperature = 1e-4,
                                  o.temperature_steps = 10;
                                }));
  const AttentionForm hard(
      4, 1, setup_of([](MultiHeadAttentionOptions& o) { o.normaliser = &normalisers::hardmax; }));
  for (size_t i = 0; i < hard.parameters().size(); ++i) {
    const Tensor from = attention.parameters()[i].tensor;
    std::copy_n(from.data(), from.size(), Tensor(hard.parameters()[i].tensor).mutable_data());
  }
  const Tensor x = random_tensor({1, 4, 4}, 1);
  ScopeGuard here;
  here->step = 10;
  check_same(attention(x, SequenceContext{}), hard(x, SequenceContext{}));
}

TEST_CASE("hardmax gives queries a gradient only with straight_through") {
  for (const bool straight_through : {false, true}) {
    const AttentionForm attention(4, 2, setup_of([&](MultiHeadAttentionOptions& o) {
                                    o.normaliser = &normalisers::hardmax;
                                    o.straight_through = straight_through;
                                  }));
    backward(read_out(attention(random_tensor({2, 5, 4}, 1), SequenceContext{})));
    double size = 0;
    for (const NamedParameter& p : attention.parameters())
      if (p.name == "query.weight") size += l1(p.tensor.grad());
    CHECK((size > 1e-3) == straight_through);
  }
}

TEST_CASE("on a grid, attention over some axes is attention within each line along them") {
  MultiHeadAttentionOptions setup;
  setup.grid = {2, 3};
  setup.axes = {1};
  const AttentionForm rows(4, 2, setup);
  const MultiHeadAttention plain(4, 2);
  for (size_t i = 0; i < plain.parameters().size(); ++i) {
    const Tensor from = rows.parameters()[i].tensor;
    std::copy_n(from.data(), from.size(), Tensor(plain.parameters()[i].tensor).mutable_data());
  }
  const Tensor x = random_tensor({2, 6, 4}, 1);
  const Tensor y = rows(x, SequenceContext{});
  for (int64_t row = 0; row < 2; ++row)
    check_same(slice(y, 1, 3 * row, 3 * row + 3),
               plain(slice(x, 1, 3 * row, 3 * row + 3), SequenceContext{}));
  check_gradients({{"x", x}}, [&] { return read_out(rows(x, SequenceContext{})); });
}

TEST_CASE("learned queries give a fixed number of outputs, whatever the order of what they read") {
  const LearnedQueries pool(3, 4, 2);
  const Tensor x = random_tensor({2, 5, 4}, 1);
  const Tensor y = pool(x, {});
  CHECK(y.shape() == Shape{2, 3, 4});
  CHECK(pool(random_tensor({2, 9, 4}, 2), {}).shape() == Shape{2, 3, 4});
  const Tensor rotated = concat(std::vector<Tensor>{slice(x, 1, 2, 5), slice(x, 1, 0, 2)}, 1);
  check_same(pool(rotated, {}), y);
  std::vector<NamedParameter> inputs = pool.parameters();
  inputs.push_back({"x", x});
  check_gradients(inputs, [&] { return read_out(pool(x, {})); });
  KeepMask causal, window;
  causal.causal = true;
  window.window = 2;
  CHECK_THROWS_WITH_AS(pool(x, causal), doctest::Contains("do not have"), Error);
  CHECK_THROWS_AS(pool(x, window), Error);
}

TEST_CASE("heads that do not divide the width of the model are rejected") {
  CHECK_THROWS_WITH_AS(AttentionForm(6, 4), doctest::Contains("`attention.key_dim`"), InputError);
  CHECK_THROWS_WITH_AS(MultiHeadAttention(6, 4),
                       doctest::Contains("4 heads do not divide the width 6"), InputError);
}

TEST_CASE("MultiHeadAttention has the names, weights and bits of what make_attention() makes") {
  KeepMask padded;
  padded.key_lengths = Ids::from({2}, {5, 3});
  const Tensor x = random_tensor({2, 5, 8}, 1).detach();
  const Tensor memory = random_tensor({2, 5, 6}, 2).detach();
  for (const bool causal : {false, true})
    for (const PositionalRule* position :
         {&positional_encodings::sinusoidal, &positional_encodings::rotary}) {
      CAPTURE(causal);
      CAPTURE(std::string(position->name));
      const MultiHeadAttentionOptions options{
          .context_dim = causal ? 0 : 6,
          .causal = causal,
          .dropout = 0.2,
          .positional = {.kind = position, .layout = RotaryLayout::halves, .base = 500}};
      std::vector<Tensor> found[2];  // of both: weights, the result, its gradients
      for (size_t i = 0; i < 2; ++i) {
        ScopeGuard here;
        here->seed = 5, here->calls = 0, here->training = true;
        const std::unique_ptr<MultiHeadAttention> layer =
            i == 0 ? std::make_unique<MultiHeadAttention>(8, 2, options)
                   : make_attention(8, 2, options);
        const Tensor y = causal ? (*layer)(x, {.mask = padded}) : layer->across(x, memory, padded);
        backward(read_out(y));
        found[i].push_back(y);
        for (const NamedParameter& p : layer->parameters()) {
          found[i].push_back(p.tensor);
          if (p.tensor.grad()) found[i].push_back(p.tensor.grad());
        }
      }
      REQUIRE(found[0].size() == found[1].size());
      for (size_t i = 0; i < found[0].size(); ++i) CHECK(same_bits(found[0][i], found[1][i]));
    }
}

TEST_CASE("MultiHeadAttention rejects the options of other forms") {
  const std::function<void(MultiHeadAttentionOptions&)> others[] = {
      [](MultiHeadAttentionOptions& o) { o.similarity = &similarities::dot; },
      [](MultiHeadAttentionOptions& o) { o.scale = ScoreScale::none; },
      [](MultiHeadAttentionOptions& o) { o.normaliser = &normalisers::sum; },
      [](MultiHeadAttentionOptions& o) { o.temperature = 2; },
      [](MultiHeadAttentionOptions& o) { o.final_temperature = 0.5, o.temperature_steps = 10; },
      [](MultiHeadAttentionOptions& o) { o.head_width = HeadWidth::wide; },
      [](MultiHeadAttentionOptions& o) { o.key_dim = 2; },
      [](MultiHeadAttentionOptions& o) { o.value_dim = 2; },
      [](MultiHeadAttentionOptions& o) {
        o.key_dims = {3, 5};
      },
      [](MultiHeadAttentionOptions& o) { o.combine = Combine::concat; },
      [](MultiHeadAttentionOptions& o) { o.project_query = false; },
      [](MultiHeadAttentionOptions& o) { o.project_key = false; },
      [](MultiHeadAttentionOptions& o) { o.project_value = false; },
      [](MultiHeadAttentionOptions& o) { o.tie_key_value = true; },
      [](MultiHeadAttentionOptions& o) { o.window = 3; },
      [](MultiHeadAttentionOptions& o) { o.graph_distances = 2; },
      [](MultiHeadAttentionOptions& o) {
        o.axes = {1}, o.grid = {2, 3};
      },
      [](MultiHeadAttentionOptions& o) { o.value_source_dim = 5; },
      [](MultiHeadAttentionOptions& o) { o.positional.kind = &positional_encodings::alibi; },
      [](MultiHeadAttentionOptions& o) { o.positional.kind = &positional_encodings::relative; }};
  for (const auto& change : others) {
    MultiHeadAttentionOptions options;
    change(options);
    CHECK_NOTHROW(make_attention(8, 2, options));
    CHECK_THROWS_WITH_AS(MultiHeadAttention(8, 2, options), doctest::Contains("make_attention()"),
                         Error);
  }
}

TEST_CASE("a class derived from MultiHeadAttention overrides a step") {
  class Uniform final : public MultiHeadAttention {
   public:
    Uniform() : MultiHeadAttention(4, 2) {}

   private:
    Tensor fused(const Tensor&, const KeyValues&, const KeepMask&) const override { return {}; }
    Tensor weights(const Tensor& s, const KeepMask&) const override {
      return Tensor::full(s.shape(), 1 / static_cast<real>(s.dim(-1)));
    }
  };
  const Uniform layer;
  const Tensor x = random_tensor({2, 5, 4}, 1), y = layer(x, SequenceContext{});
  check_same(slice(y, 1, 0, 1), slice(y, 1, 4, 5));  // every query reads the mean
}
