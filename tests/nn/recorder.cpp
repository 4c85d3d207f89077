// The recorded weights are those that attention computes, and recording changes no result.
#include "nn/recorder.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "core/autograd.h"
#include "core/ops.h"
#include "mixing_check.h"
#include "nn/forms/graph_attention.h"
#include "nn/forms/grid.h"
#include "nn/models.h"
#include "nn/tap.h"

using namespace heed;
using namespace heed::testing;

namespace {

using Change = std::function<void(MultiHeadAttentionOptions&)>;

// The record of the one attention that is called.
Tensor weights_seen(const Module& module, const std::function<void()>& call) {
  Recorder recorder;
  call();
  const std::vector<AttentionRecord> records = recorder.records(module);
  REQUIRE(records.size() == 1);
  return records[0].weights;
}

// softmax(q kᵀ / √K) for heads of these widths of a layer with its projections; no mask.
Tensor by_the_book(const Module& layer, const std::vector<int64_t>& widths, const Tensor& x,
                   const Tensor& context) {
  std::vector<Tensor> heads;
  int64_t first = 0;
  for (const int64_t width : widths) {
    const auto part = [&](const std::string& name, const Tensor& of) {
      return linear(of, slice(layer.parameter(name + ".weight"), 0, first, first + width),
                    slice(layer.parameter(name + ".bias"), 0, first, first + width));
    };
    const Tensor scores = matmul(part("query", x), transpose(part("key", context), 1, 2));
    heads.push_back(softmax(mul(scores, 1 / std::sqrt(static_cast<real>(width)))));
    first += width;
  }
  return stack(heads, 1);
}

void check_rows_sum_to_one(const Tensor& weights) {
  const Tensor sums = sum(weights, {3});
  for (const real total : sums.values()) CHECK(total == doctest::Approx(1).epsilon(rounding));
}

Inputs two_examples() {
  Inputs in;
  in.source = Ids::from({2, 4}, {1, 2, 3, 4, 5, 0, 0, 0});
  in.source_lengths = Ids::from({2}, {4, 1});
  in.input = Ids::from({2, 3}, {6, 1, 2, 3, 4, 0});
  in.input_lengths = Ids::from({2}, {3, 2});
  return in;
}

// Four nodes: none leads into 3, two edges lead from 1 into 0.
Edges some_edges() {
  return {Ids::from({5}, {1, 1, 3, 0, 2}), Ids::from({5}, {0, 0, 0, 1, 2}), {}};
}

}  // namespace

TEST_CASE("the recorded weights of fused attention are the softmax of its definition") {
  const MultiHeadAttention attention(6, 2);
  shake(attention);
  const Tensor x = random_tensor({2, 5, 6}, 1);
  const Tensor weights = weights_seen(attention, [&] { attention(x, SequenceContext{}); });
  CHECK(relative_difference(weights, by_the_book(attention, {3, 3}, x, x)) <= rounding);
  check_rows_sum_to_one(weights);
  CHECK_FALSE(weights.requires_grad());
}

TEST_CASE("recorded weights times the values is what attention computes, in every form") {
  struct Form {
    std::string name;
    Change change;
    const PositionalRule* positions = &positional_encodings::none;
  };
  const Form forms[] = {
      {"fused", [](MultiHeadAttentionOptions&) {}},
      {"temperature", [](MultiHeadAttentionOptions& o) { o.temperature = 0.3; }},
      {"additive", [](MultiHeadAttentionOptions& o) { o.similarity = &similarities::additive; }},
      {"hardmax", [](MultiHeadAttentionOptions& o) { o.normaliser = &normalisers::hardmax; }},
      {"not normalised", [](MultiHeadAttentionOptions& o) { o.normaliser = &normalisers::none; }},
      {"scale of zero",
       [](MultiHeadAttentionOptions& o) { o.scale = ScoreScale::value, o.scale_value = 0; }},
      {"rotary", [](MultiHeadAttentionOptions&) {}, &positional_encodings::rotary},
      {"alibi", [](MultiHeadAttentionOptions&) {}, &positional_encodings::alibi},
  };
  for (const Form& form : forms) {
    CAPTURE(form.name);
    MultiHeadAttentionOptions setup = setup_of(form.change);
    setup.combine = Combine::concat;
    setup.positional.kind = form.positions;
    const AttentionForm attention(8, 2, setup);
    shake(attention);
    KeepMask mask;
    mask.causal = true;
    mask.key_lengths = Ids::from({2}, {5, 2});
    const Tensor x = random_tensor({2, 5, 8}, 1);
    Tensor y;
    const Tensor weights = weights_seen(attention, [&] { y = attention(x, {mask, {}}); });
    REQUIRE(weights.shape() == Shape{2, 2, 5, 5});
    const Tensor v =
        linear(x, attention.parameter("value.weight"), attention.parameter("value.bias"));
    const Tensor z = matmul(weights, permute(v.reshape({2, 5, 2, 4}), {0, 2, 1, 3}));
    CHECK(relative_difference(permute(z, {0, 2, 1, 3}).reshape({2, 5, 8}), y) <= rounding);
    for (int64_t h = 0; h < 2;
         ++h)  // of the second example, position 0 attends to one key, position 4 to two
      for (int64_t j = 1; j < 5; ++j) {
        CHECK(weights.data()[((2 + h) * 5 + 0) * 5 + j] == 0);
        if (j >= 2) CHECK(weights.data()[((2 + h) * 5 + 4) * 5 + j] == 0);
      }
  }
}

TEST_CASE("heads of different widths are recorded in order, fused and composed") {
  for (const bool fused : {true, false}) {
    MultiHeadAttentionOptions setup = setup_of([](MultiHeadAttentionOptions& o) {
      o.key_dims = {1, 4, 2};
    });
    setup.context_dim = 5;
    const AttentionForm attention(6, 3, setup);
    shake(attention);
    const Tensor x = random_tensor({2, 3, 6}, 1), context = random_tensor({2, 4, 5}, 2);
    const Tensor no_bias = Tensor::zeros({3, 3, 4});
    const Tensor weights =
        weights_seen(attention, [&] { attention(x, context, {}, fused ? Tensor() : no_bias); });
    REQUIRE(weights.shape() == Shape{2, 3, 3, 4});
    CHECK(relative_difference(weights, by_the_book(attention, {1, 4, 2}, x, context)) <= rounding);
    check_rows_sum_to_one(weights);
  }
}

TEST_CASE("recorded weights are those before dropout") {
  for (const NormaliserRule* normaliser : {&normalisers::softmax, &normalisers::hardmax}) {
    MultiHeadAttentionOptions setup =
        setup_of([&](MultiHeadAttentionOptions& o) { o.normaliser = normaliser; });
    setup.dropout = 0.5;
    const AttentionForm attention(6, 2, setup);
    shake(attention);
    const Tensor x = random_tensor({2, 5, 6}, 1);
    ScopeGuard here;
    const Tensor still = weights_seen(attention, [&] { attention(x, SequenceContext{}); });
    here->training = true;
    const Tensor training = weights_seen(attention, [&] { attention(x, SequenceContext{}); });
    CHECK(same_bits(training, still));
    check_rows_sum_to_one(training);
  }
}

TEST_CASE("learned queries and cross-attention in models: the shapes, the names, the order") {
  const Inputs in = two_examples();
  const auto names_and_shapes = [&](const Model& model) {
    Recorder recorder;
    model.logits(in);
    std::vector<std::string> all;
    for (const AttentionRecord& record : recorder.records(model)) {
      all.push_back(fmt::format("{} {}", record.name, record.weights.shape()));
      CHECK(record.grid.empty());
    }
    return all;
  };
  const std::unique_ptr<Model> seq2seq =
      small_model(ModelKind::seq2seq, [](ModelOptions&) {}, {6, 7, 0});
  CHECK(names_and_shapes(*seq2seq) ==
        std::vector<std::string>{"encoder.layers.0.attention [2, 2, 4, 4]",
                                 "encoder.layers.1.attention [2, 2, 4, 4]",
                                 "decoder.layers.0.attention [2, 2, 3, 3]",
                                 "decoder.layers.0.cross_attention [2, 2, 3, 4]",
                                 "decoder.layers.1.attention [2, 2, 3, 3]",
                                 "decoder.layers.1.cross_attention [2, 2, 3, 4]"});
  const std::unique_ptr<Model> classifier = small_model(
      ModelKind::classifier,
      [](ModelOptions& o) { o.layers = 1, o.pool = Pool::learned, o.pool_queries = 5; }, {0, 7, 3});
  CHECK(names_and_shapes(*classifier) ==
        std::vector<std::string>{"encoder.layers.0.attention [2, 2, 3, 3]",
                                 "pool.attention [2, 2, 5, 3]"});
  // The names are those of a checkpoint.
  CHECK(classifier->parameter("pool.attention.query.weight").shape() == Shape{8, 8});
  const std::unique_ptr<Model> convolution =
      small_model(ModelKind::language_model,
                  [](ModelOptions& o) { o.mixing.kind = &mixings::convolution; }, {0, 7, 0});
  CHECK(names_and_shapes(*convolution).empty());
}

TEST_CASE("on a graph the weights of edges are recorded as a matrix of pairs of nodes") {
  const GraphAttention layer(4, 2, 0);
  shake(layer);
  const Tensor x = random_tensor({1, 4, 4}, 1);
  const Edges edges = some_edges();
  const Tensor weights = weights_seen(layer, [&] { layer(x, {{}, &edges}); });
  REQUIRE(weights.shape() == Shape{1, 2, 4, 4});
  for (int64_t h = 0; h < 2; ++h) {
    const auto at = [&](int64_t i, int64_t j) { return weights.data()[(h * 4 + i) * 4 + j]; };
    for (int64_t i = 0; i < 4; ++i) {
      double total = 0;
      for (int64_t j = 0; j < 4; ++j) total += at(i, j);
      CHECK(total == doctest::Approx(i == 3 ? 0 : 1).epsilon(rounding));
    }
    CHECK(at(1, 0) == doctest::Approx(1));
    CHECK(at(2, 2) == doctest::Approx(1));
    // Softmax over three edges. Two of them are equal.
    const auto score = [&](int64_t i, int64_t j) {
      const Tensor q = slice(
          linear(x, layer.parameter("query.weight"), layer.parameter("query.bias")), 1, i, i + 1);
      const Tensor k =
          slice(linear(x, layer.parameter("key.weight"), layer.parameter("key.bias")), 1, j, j + 1);
      double dot = 0;
      for (int64_t c = 2 * h; c < 2 * h + 2; ++c) dot += q.data()[c] * k.data()[c];
      return dot / std::sqrt(2.0);
    };
    const double twice = 2 * std::exp(score(0, 1)), once = std::exp(score(0, 3));
    CHECK(at(0, 1) == doctest::Approx(twice / (twice + once)).epsilon(rounding));
  }
}

TEST_CASE("along some axes of a grid the record names them and has a row for every line") {
  MultiHeadAttentionOptions setup;
  setup.grid = {2, 3};
  setup.axes = {0};
  const AttentionForm columns(4, 2, setup);
  shake(columns);
  const Tensor x = random_tensor({2, 6, 4}, 1);
  Recorder recorder;
  columns(x, SequenceContext{});
  const std::vector<AttentionRecord> records = recorder.records(columns);
  REQUIRE(records.size() == 1);
  CHECK(records[0].grid == std::vector<int64_t>{2, 3});
  CHECK(records[0].axes == std::vector<int64_t>{0});
  const Tensor lines = unfold(x, setup.grid, setup.axes);
  CHECK(relative_difference(records[0].weights, by_the_book(columns, {2, 2}, lines, lines)) <=
        rounding);

  setup.axes = {};
  const AttentionForm whole(4, 2, setup);
  Recorder again;
  whole(x, SequenceContext{});
  CHECK(again.records(whole).at(0).grid.empty());
  CHECK(again.records(whole).at(0).weights.shape() == Shape{2, 2, 6, 6});
}

TEST_CASE("recording changes no bit of outputs, gradients and random streams") {
  struct Case {
    std::string name;
    ModelKind kind;
    std::function<void(ModelOptions&)> change;
  };
  const Case cases[] = {
      {"fused", ModelKind::seq2seq, [](ModelOptions&) {}},
      {"composed", ModelKind::language_model,
       [](ModelOptions& o) { o.attention.similarity = &similarities::cosine; }},
      {"grouped", ModelKind::seq2seq,
       [](ModelOptions& o) {
         o.attention.key_dims = {3, 2}, o.attention.value_dims = {1, 4};
       }},
      {"relative", ModelKind::seq2seq,
       [](ModelOptions& o) { o.positional.kind = &positional_encodings::relative; }},
      {"pool", ModelKind::classifier, [](ModelOptions& o) { o.pool = Pool::learned; }},
      {"graph", ModelKind::classifier,
       [](ModelOptions& o) { o.mixing.kind = &mixings::graph_attention; }},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    const bool is_graph = each.name == "graph";
    const std::unique_ptr<Model> model = small_model(each.kind,
                                                     [&](ModelOptions& o) {
                                                       o.attention_dropout = o.dropout = 0.2;
                                                       each.change(o);
                                                     },
                                                     {6, 7, 3, is_graph ? 2 : 0});
    Inputs in = two_examples();
    if (is_graph) {
      in.features = random_tensor({2, 3, 2}, 4).detach();
      in.edges = {Ids::from({3}, {0, 2, 4}), Ids::from({3}, {1, 1, 3}), {}};
    }
    std::shared_ptr<Recorder> recorder;
    check_changes_nothing(*model, in, [&] { return recorder = std::make_shared<Recorder>(); });
    CHECK_FALSE(recorder->records(*model).empty());
  }
}

TEST_CASE("of two recorders only the inner one records, and only while it lives") {
  const MultiHeadAttention first(4, 2), second(4, 1);
  const Tensor x = random_tensor({1, 3, 4}, 1);

  CHECK_FALSE(Tap::wanted(first, Site::weights));
  {
    Recorder outer;
    first(x, SequenceContext{});
    {
      Recorder inner;
      second(x, SequenceContext{});
      CHECK(inner.records(second).size() == 1);
      CHECK(inner.records(first).empty());
    }
    CHECK(outer.records(second).empty());
    first(x, SequenceContext{});
    CHECK(outer.records(first).size() == 2);
  }
  CHECK_FALSE(Tap::wanted(first, Site::weights));
}

TEST_CASE("a module names its parts, and no others") {
  const std::unique_ptr<Model> model = small_model(
      ModelKind::classifier, [](ModelOptions& o) { o.pool = Pool::learned; }, {0, 7, 3});
  const MultiHeadAttention other(4, 2);
  CHECK(model->part_names().at(model.get()) == "");
  CHECK_FALSE(model->part_names().contains(&other));
}
