#include "nn/module.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <thread>

#include "checks.h"
#include "core/autograd.h"
#include "core/ops.h"
#include "nn/embedding.h"
#include "nn/feed_forward.h"
#include "nn/models.h"
#include "nn/norm.h"
#include "support.h"

using namespace heed;
using namespace heed::testing;

namespace {

std::vector<std::string> names(const Module& module) {
  std::vector<std::string> all;
  for (const NamedParameter& p : module.parameters()) all.push_back(p.name);
  return all;
}

ModelOptions small(ModelKind kind) {
  ModelOptions o;
  o.kind = kind;
  o.layers = 1;
  o.dim = 8;
  o.heads = 2;
  return o;
}

double variance(const Tensor& x) {
  double sum = 0, squares = 0;
  for (real v : x.values()) {
    sum += v;
    squares += static_cast<double>(v) * v;
  }
  const auto n = static_cast<double>(x.size());
  return squares / n - sum / n * sum / n;
}

}  // namespace

TEST_CASE("parameters carry their full names in the order they were added") {
  CHECK(names(Linear(3, 2)) == std::vector<std::string>{"weight", "bias"});
  CHECK(names(Linear(3, 2, {.bias = false})) == std::vector<std::string>{"weight"});
  CHECK(names(FeedForward(4, 8, swiglu, 0, {.bias = false})) ==
        std::vector<std::string>{"up.weight", "gate.weight", "down.weight"});
  const auto all = names(*make_model(small(ModelKind::seq2seq), {5, 6, 0}));
  for (const char* name :
       {"source_embedding.token.weight", "embedding.token.weight",
        "encoder.layers.0.attention.query.weight", "encoder.layers.0.feed_forward.down.bias",
        "encoder.norm.weight", "decoder.layers.0.cross_attention.output.bias"})
    CHECK(std::find(all.begin(), all.end(), name) != all.end());
}

TEST_CASE("parts register themselves, in the order of their construction") {
  struct Net : Module {
    Part<Linear> first{this, "first", 2, 3, LinearOptions{.bias = false}};
    Part<Tensor> scale{this, "scale", constant_parameter({3}, 1)};
    Part<Tensor> none{this, "none"};
    Part<std::unique_ptr<Linear>> absent{this, "absent", nullptr};
    Part<std::unique_ptr<Module>> any{this, "any", std::make_unique<Norm>(3)};
    std::vector<Part<std::unique_ptr<Linear>>> list;
    std::optional<Part<Linear>> last;
    Net() {
      for (int i = 0; i < 3; ++i)
        list.emplace_back(this, fmt::format("{}", i),
                          std::make_unique<Linear>(Tensor::zeros({1, 1})));
      last.emplace(this, "last", 3, 1);
    }
  };
  const Net net;
  CHECK(names(net) == std::vector<std::string>{"first.weight", "scale", "any.weight", "any.bias",
                                               "0.weight", "1.weight", "2.weight", "last.weight",
                                               "last.bias"});
  CHECK(net.first(Tensor::zeros({1, 2})).shape() == Shape{1, 3});  // a Part<Linear> is a Linear
  CHECK(net.parameter("scale").same_as(net.scale));
  CHECK(net.part_names().at(&net.first) == "first");
}

TEST_CASE("a member that is a module but not a Part is an error") {
  const auto error = [](const Module& module) {
    return thrown<Error>([&] { module.parameters(); });
  };
  struct Before : Module {
    Linear forgotten{2, 2};
    Part<Linear> linear{this, "linear", 2, 2};
  };
  struct After : Module {
    Part<Tensor> scale{this, "scale", constant_parameter({2}, 1)};
    std::optional<Norm> forgotten;
  };
  struct Around : Module {
    Part<Linear> linear{this, "linear", 2, 2};
    Part<std::unique_ptr<Before>> inner{this, "inner", std::make_unique<Before>()};
  };
  CHECK(error(Before()) ==
        "module: a Linear inside Before is not a Part, so nothing would train it; declare it as "
        "Part<Linear> (nn/module.h)");
  CHECK_CONTAINS(error(Around()), "a Linear inside Before");
  CHECK_CONTAINS(thrown<Error>([] { Before().parameter_count(); }), "a Linear inside Before");
  After after;
  CHECK(error(after) == "");
  after.forgotten.emplace(2);
  CHECK_CONTAINS(error(after), "a Norm inside After");
  after.forgotten.reset();
  CHECK(error(after) == "");
}

TEST_CASE("modules that are no members are roots") {
  struct Pair {  // no module
    Linear a{2, 2}, b{2, 2};
  };
  const Pair pair;
  std::atomic<int64_t> parameters = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) parameters += Pair().a.parameter_count();
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(parameters == 4 * 100 * 6);
  CHECK(names(pair.a) == names(pair.b));
}

TEST_CASE("a tied weight appears once and accumulates the gradients of both uses") {
  ModelOptions o = small(ModelKind::language_model);
  const auto tied = make_model(o, {0, 7, 0});
  o.tie_weights = false;
  const auto untied = make_model(o, {0, 7, 0});
  CHECK(untied->parameter_count() - tied->parameter_count() == 7 * 8);
  const auto tied_names = names(*tied);
  CHECK(std::count(tied_names.begin(), tied_names.end(), "head.weight") == 0);

  // A token that is never read gets its gradient only through the head.
  const Tensor logits = tied->logits({{}, {}, Ids::from({1, 2}, {1, 2}), Ids::from({1}, {2})});
  backward(sum(logits * logits));
  const Tensor gradient = tied->parameters().front().tensor.grad();
  REQUIRE(gradient);
  double unread = 0;
  for (int64_t c = 0; c < 8; ++c)
    unread += std::abs(static_cast<double>(gradient.data()[6 * 8 + c]));
  CHECK(unread > 0);
}

TEST_CASE("by default, pre-norm stacks end with a norm and post-norm stacks do not") {
  const auto has_final = [](ModelOptions o) {
    const auto all = names(*make_model(o, {0, 5, 0}));
    return std::count(all.begin(), all.end(), "decoder.norm.weight") == 1;
  };
  ModelOptions o = small(ModelKind::language_model);
  CHECK(has_final(o));
  o.norm_first = false;
  CHECK_FALSE(has_final(o));
  o.final_norm = Choice::yes;
  CHECK(has_final(o));
  o.norm_first = true;
  o.final_norm = Choice::no;
  CHECK_FALSE(has_final(o));
}

TEST_CASE("a layer without feed-forward network, norm and residual is its attention") {
  ModelOptions o = small(ModelKind::language_model);
  o.mixing.feed_forward = o.mixing.residual = false;
  o.norm.kind = NormKind::none;
  o.attention.causal = true;
  const EncoderLayer layer(o);
  MultiHeadAttention attention(o.dim, o.heads, {.causal = true});
  std::map<std::string, Tensor> values;
  for (const NamedParameter& p : layer.parameters()) {
    REQUIRE(p.name.starts_with("attention."));
    values[p.name.substr(10)] = p.tensor;
  }
  attention.load(values);
  const Tensor x = random_tensor({2, 5, o.dim}, 1);
  check_same(layer(x, {}), attention(x, SequenceContext{}));
  o.mixing.residual = true;
  EncoderLayer adds(o);
  values.clear();
  for (const NamedParameter& p : layer.parameters()) values[p.name] = p.tensor;
  adds.load(values);
  check_same(adds(x, {}), x + attention(x, SequenceContext{}));
}

TEST_CASE("without norms a model has none, and final_norm = true contradicts it") {
  for (const ModelKind kind :
       {ModelKind::seq2seq, ModelKind::language_model, ModelKind::classifier}) {
    ModelOptions o = small(kind);
    o.norm.kind = NormKind::none;
    const auto all = names(*make_model(o, {5, 5, 3}));
    CHECK(std::none_of(all.begin(), all.end(),
                       [](const std::string& name) { return name.find("norm") != name.npos; }));
    o.final_norm = Choice::yes;
    CHECK_THROWS_WITH_AS(make_model(o, {5, 5, 3}),
                         "`final_norm` = true needs a norm, and `norm` = \"none\" has none",
                         InputError);
  }
}

TEST_CASE("gpt2 counts the sublayers that add to the stream") {
  const auto variance_of_output = [](const std::function<void(ModelOptions&)>& change) {
    ModelOptions o = small(ModelKind::language_model);
    o.layers = 8;
    o.dim = 64;
    o.init = {.kind = InitKind::gpt2, .std = 1};
    change(o);
    return variance(
        make_model(o, {0, 5, 0})->parameter("decoder.layers.0.attention.output.weight"));
  };
  const auto near = [](double variance) { return doctest::Approx(variance).epsilon(0.1); };
  CHECK(variance_of_output([](ModelOptions&) {}) == near(1.0 / 16));
  CHECK(variance_of_output([](ModelOptions& o) { o.mixing.feed_forward = false; }) ==
        near(1.0 / 8));
  CHECK(variance_of_output([](ModelOptions& o) { o.mixing.residual = false; }) == near(1));
}

TEST_CASE("parameter counts agree with the formula") {
  // nanoGPT's shape without biases: V·D + T·D + L·(12·D² + 2·D) + D.
  ModelOptions o = small(ModelKind::language_model);
  o.layers = 3;
  o.dim = 16;
  o.heads = 4;
  o.bias = false;
  o.positional = {&positional_encodings::learned, 10};
  CHECK(make_model(o, {0, 11, 0})->parameter_count() ==
        11 * 16 + 10 * 16 + 3 * (12 * 16 * 16 + 2 * 16) + 16);
}

TEST_CASE("initial weights have the variance of their distribution") {
  ScopeGuard here;
  here->seed = 3;
  const Shape shape{300, 200};  // fan out 300, fan in 200
  InitOptions init;
  const auto measured = [&](InitKind kind, int64_t depth = 0) {
    init.kind = kind;
    return variance(initial_weight(shape, init, depth));
  };
  CHECK(measured(InitKind::xavier_uniform) == doctest::Approx(2.0 / 500).epsilon(0.02));
  CHECK(measured(InitKind::xavier_normal) == doctest::Approx(2.0 / 500).epsilon(0.02));
  CHECK(measured(InitKind::kaiming_uniform) == doctest::Approx(2.0 / 200).epsilon(0.02));
  CHECK(measured(InitKind::kaiming_normal) == doctest::Approx(2.0 / 200).epsilon(0.02));
  CHECK(measured(InitKind::normal, 8) == doctest::Approx(0.02 * 0.02).epsilon(0.02));
  CHECK(measured(InitKind::gpt2) == doctest::Approx(0.02 * 0.02).epsilon(0.02));
  CHECK(measured(InitKind::gpt2, 8) == doctest::Approx(0.02 * 0.02 / 8).epsilon(0.02));

  init.kind = InitKind::xavier_uniform;
  const Tensor weight = initial_weight(shape, init);
  const double bound = std::sqrt(6.0 / 500);
  for (real v : weight.values()) REQUIRE(std::abs(static_cast<double>(v)) <= bound);
}

// The numbers are those of tests/fixtures/make_random.py.
TEST_CASE("the first weights that a seed gives are fixed") {
  ScopeGuard here;
  here->seed = 6;
  here->calls = 0;
  const Linear linear(4, 3);
  const Embedding embedding(5, 2, 0.5);
  const auto check_first = [](const Tensor& weight, double scale, std::vector<double> golden) {
    for (size_t i = 0; i < golden.size(); ++i)
      CHECK(static_cast<double>(weight.data()[i]) ==
            doctest::Approx(scale * golden[i]).epsilon(1e-6));
  };
  check_first(linear.weight, std::sqrt(6.0 / 7),
              {-0.08942560898140073, -0.1909954878501594, 0.42609796999022365, -0.2089302558451891,
               0.9957359489053488, -0.0836708745919168});
  check_first(embedding.weight, 0.5,
              {0.003552410137722716, 1.3397727577179035, -1.8607525658702906, -0.11654886927967519,
               0.2699664813856387, -1.1092945615887064});
}

TEST_CASE("the same seed makes the same model, another seed another") {
  const auto first_weights = [](uint64_t seed) {
    ScopeGuard here;
    here->seed = seed;
    here->calls = 0;
    const auto model = make_model(small(ModelKind::seq2seq), {5, 6, 0});
    std::vector<real> all;
    for (const NamedParameter& p : model->parameters())
      all.insert(all.end(), p.tensor.values().begin(), p.tensor.values().end());
    return all;
  };
  CHECK(first_weights(1) == first_weights(1));
  CHECK(first_weights(1) != first_weights(2));
}

TEST_CASE("a parameter is found by its name") {
  const auto model = make_model(small(ModelKind::seq2seq), {5, 6, 0});
  const std::string name = "decoder.layers.0.cross_attention.output.bias";
  CHECK(model->parameter(name).shape() == Shape{8});
  for (const NamedParameter& p : model->parameters())
    CHECK(model->parameter(p.name).same_as(p.tensor));
  CHECK_THROWS_WITH_AS(Linear(3, 2).parameter("weights"),
                       "module: there is no parameter \"weights\"; did you mean 'weight'?", Error);
  CHECK_THROWS_WITH_AS(Linear(3, 2).parameter("up.weight"),
                       "module: there is no parameter \"up.weight\"; similar names: weight", Error);
}

TEST_CASE("a map of values is loaded whole or not at all") {
  Linear linear(2, 1);
  const Tensor weight = Tensor::from({1, 2}, std::vector<real>{3, 4});
  const Tensor bias = Tensor::from({1}, std::vector<real>{5});
  linear.load({{"weight", weight}, {"bias", bias}});
  CHECK(linear.weight.data()[1] == 4);
  CHECK(linear.bias.data()[0] == 5);
  const Tensor zero = Tensor::zeros({1, 2});
  const auto rejects = [&](const std::map<std::string, Tensor>& values, const char* text) {
    CHECK_THROWS_WITH_AS(linear.load(values), text, Error);
    CHECK(linear.weight.data()[1] == 4);
  };
  rejects({{"weight", zero}}, "module: no value for the parameters bias");
  rejects({{"weight", zero}, {"bias", bias}, {"gain", bias}},
          "module: there are no parameters gain");
  rejects({{"weight", zero}, {"bias", zero}},
          "module: parameter \"bias\" has shape [1], its value [1, 2]");
}

TEST_CASE("options are named, one by one, and layers need no others") {
  CHECK(Encoder({.dim = 4, .heads = 2}, 1).parameter("layers.0.feed_forward.up.weight").shape() ==
        Shape{16, 4});
  CHECK(EncoderLayer({.dim = 4}).parameter("attention.query.weight").shape() == Shape{4, 4});
  CHECK(SequenceContext{.mask = {.causal = true}}.mask.causal);
  CHECK(PositionalEncoding(4, {.kind = &positional_encodings::sinusoidal}).parameter_count() == 0);
  CHECK(Embedding(3, 2).weight.shape() == Shape{3, 2});
  CHECK(FeedForward(2, 4).parameter_count() == 2 * 4 + 4 + 4 * 2 + 2);
}

TEST_CASE("contradictory options are an input error") {
  ModelOptions o = small(ModelKind::language_model);
  o.heads = 3;
  CHECK_THROWS_AS(make_model(o, {0, 5, 0}), InputError);
  o.heads = 2;
  o.share_embeddings = true;
  CHECK_THROWS_AS(make_model(o, {0, 5, 0}), InputError);
}
