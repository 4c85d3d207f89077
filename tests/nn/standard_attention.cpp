// The standard form of attention against the general one, which other tests hold against formulas:
// the same names, initial weights, outputs, gradients and recorded weights, in every bit.
#include <doctest/doctest.h>

#include <functional>

#include "checks.h"
#include "core/autograd.h"
#include "core/ops.h"
#include "nn/cache.h"
#include "nn/forms/attention.h"
#include "nn/models.h"
#include "nn/recorder.h"
#include "support.h"

using namespace heed;
using namespace heed::testing;

namespace {

// Both layers, with the same random streams.
struct Pair {
  std::unique_ptr<Attention> standard, general;

  explicit Pair(const AttentionSetup& setup) {
    const auto make = [&](const auto& make_layer) {
      ScopeGuard here;
      here->seed = 5, here->calls = 0;
      return make_layer();
    };
    standard = make([&] { return make_attention(8, 2, setup); });
    general = make([&] { return std::make_unique<GeneralAttention>(8, 2, setup); });
  }

  // f of both, in training, with the gradients that follow.
  void check(const std::function<Tensor(const Attention&)>& f) const {
    std::vector<Tensor> found[2];
    const Attention* const layers[] = {standard.get(), general.get()};
    for (size_t i = 0; i < 2; ++i) {
      ScopeGuard here;
      here->training = true;
      here->calls = 100;
      Recorder recorder;
      const Tensor y = f(*layers[i]);
      found[i].push_back(y.detach());
      if (scope().gradients) backward(read_out(y));
      for (const NamedParameter& p : layers[i]->parameters()) {
        if (p.tensor.grad()) found[i].push_back(p.tensor.grad().clone());
        Tensor(p.tensor).clear_grad();
      }
      for (const AttentionRecord& record : recorder.records(*layers[i]))
        found[i].push_back(record.weights);
    }
    REQUIRE(found[0].size() == found[1].size());
    REQUIRE(found[0].size() >= 2);
    for (size_t i = 0; i < found[0].size(); ++i) CHECK(same_bits(found[0][i], found[1][i]));
  }
};

KeepMask padded() {
  KeepMask mask;
  mask.key_lengths = Ids::from({2}, {5, 3});
  return mask;
}

}  // namespace

TEST_CASE(
    "standard attention: names, initial weights, outputs and gradients are the general form's") {
  for (const bool causal : {false, true})
    for (const PositionalRule* position :
         {&positional_encodings::sinusoidal, &positional_encodings::rotary}) {
      CAPTURE(causal);
      CAPTURE(std::string(position->name));
      AttentionSetup setup;
      setup.form.causal = causal;
      setup.positional.kind = position;
      setup.positional.layout = RotaryLayout::halves;
      setup.positional.base = 500;
      setup.dropout = 0.2;
      const Pair pair(setup);
      REQUIRE(dynamic_cast<const MultiHeadAttention*>(pair.standard.get()));
      const std::vector<NamedParameter> a = pair.standard->parameters(),
                                        b = pair.general->parameters();
      REQUIRE(a.size() == b.size());
      for (size_t i = 0; i < a.size(); ++i) {
        CHECK(a[i].name == b[i].name);
        CHECK(same_bits(a[i].tensor, b[i].tensor));
      }
      const Tensor x = random_tensor({2, 5, 8}, 1).detach();
      pair.check([&](const Attention& layer) { return layer(x, {.mask = padded()}); });
      CHECK(pair.standard->can_cache() == causal);
    }
}

TEST_CASE("standard attention: so is cross-attention, and reading from a cache") {
  AttentionSetup across;
  across.context_dim = 6;
  const Pair pair(across);
  const Tensor x = random_tensor({2, 4, 8}, 1).detach(),
               memory = random_tensor({2, 5, 6}, 2).detach();
  pair.check([&](const Attention& layer) { return layer.across(x, memory, padded()); });

  NoGradients here;
  pair.check([&](const Attention& layer) {
    KeyValueCache cache(2);
    const Tensor before = layer.across(x, memory, padded(), &cache);
    const Tensor after = layer.across(x, Tensor(), padded(), &cache);
    CHECK(same_bits(before, after));
    return after;
  });
  AttentionSetup causal;
  causal.form.causal = true;
  causal.positional.kind = &positional_encodings::rotary;
  Pair(causal).check([&](const Attention& layer) {
    KeyValueCache cache(2);
    layer(slice(x, 1, 0, 3), {.past = &cache});
    cache.advance(3);
    return layer(slice(x, 1, 3, 4), {.past = &cache});
  });
}

TEST_CASE("standard attention: every other form is the general one") {
  using Change = std::function<void(AttentionSetup&)>;
  const Change others[] = {
      [](AttentionSetup& s) { s.form.similarity.kind = &similarities::dot; },
      [](AttentionSetup& s) { s.form.similarity.scale = ScoreScale::none; },
      [](AttentionSetup& s) { s.form.normaliser = &normalisers::sum; },
      [](AttentionSetup& s) { s.form.temperature.initial = 2; },
      [](AttentionSetup& s) {
        s.form.temperature = {1, 0.5, 10};
      },
      [](AttentionSetup& s) { s.form.head_width = HeadWidth::wide; },
      [](AttentionSetup& s) { s.form.key_dim = 2; },
      [](AttentionSetup& s) { s.form.value_dim = 2; },
      [](AttentionSetup& s) {
        s.form.key_dims = {3, 5};
      },
      [](AttentionSetup& s) { s.form.combine = Combine::concat; },
      [](AttentionSetup& s) { s.form.project_query = false; },
      [](AttentionSetup& s) { s.form.project_key = false; },
      [](AttentionSetup& s) { s.form.project_value = false; },
      [](AttentionSetup& s) { s.form.tie_key_value = true; },
      [](AttentionSetup& s) { s.form.window = 3; },
      [](AttentionSetup& s) { s.form.activation = Activation::tanh; },
      [](AttentionSetup& s) { s.form.graph_distances = 2; },
      [](AttentionSetup& s) {
        s.form.axes = {1}, s.grid = {2, 3};
      },
      [](AttentionSetup& s) { s.value_source_dim = 5; },
      [](AttentionSetup& s) { s.positional.kind = &positional_encodings::alibi; },
      [](AttentionSetup& s) { s.positional.kind = &positional_encodings::relative; },
  };
  for (const Change& change : others) {
    AttentionSetup setup;
    change(setup);
    CHECK(dynamic_cast<const GeneralAttention*>(make_attention(8, 2, setup).get()));
  }
  AttentionSetup same;  // what says the same in other words
  same.form.key_dim = same.form.value_dim = 4;
  same.value_source_dim = 8;
  same.grid = {2, 3};
  CHECK(dynamic_cast<const MultiHeadAttention*>(make_attention(8, 2, same).get()));
  same.form.straight_through = true;  // contradictions are rejected all the same
  CHECK_THROWS_AS(make_attention(8, 2, same), InputError);
}

TEST_CASE("standard parts: a Transformer without a config has the bits of one with it") {
  const auto made = [](const auto& make) {
    ScopeGuard here;
    here->seed = 3, here->calls = 0;
    return make();
  };
  const std::pair<Parts::Kind, const PositionalRule*> kinds[] = {
      {Parts::Kind::none, &positional_encodings::none},
      {Parts::Kind::sinusoidal, &positional_encodings::sinusoidal},
      {Parts::Kind::learned, &positional_encodings::learned},
      {Parts::Kind::rotary, &positional_encodings::rotary}};
  const Ids input = Ids::from({2, 4}, {1, 2, 3, 4, 4, 3, 2, 0});
  const Inputs inputs{.source = Ids::from({2, 3}, {1, 2, 3, 3, 2, 0}),
                      .source_lengths = Ids::from({2}, {3, 2}),
                      .input = input,
                      .input_lengths = Ids::from({2}, {4, 3})};
  for (const auto& [kind, rule] : kinds)
    for (const ModelKind model_kind : {ModelKind::seq2seq, ModelKind::language_model}) {
      const std::string name = rule->name;
      CAPTURE(name);
      TransformerOptions plain;
      ModelOptions full;
      for (ModelShape* const o :
           {static_cast<ModelShape*>(&plain), static_cast<ModelShape*>(&full)})
        o->dim = 8, o->heads = 2;
      plain.positions = kind;
      plain.max_length = full.positional.max_length = 6;
      full.positional.kind = rule;
      full.kind = model_kind;
      const ModelSizes sizes{.source_vocabulary = 5, .vocabulary = 5};
      const std::unique_ptr<Model> a = made([&]() -> std::unique_ptr<Model> {
        if (model_kind == ModelKind::seq2seq) return std::make_unique<Seq2Seq>(plain, sizes);
        return std::make_unique<LanguageModel>(plain, sizes);
      });
      const std::unique_ptr<Model> b = made([&] { return make_model(full, sizes); });
      const std::vector<NamedParameter> ours = a->parameters(), theirs = b->parameters();
      REQUIRE(ours.size() == theirs.size());
      for (size_t i = 0; i < ours.size(); ++i) {
        CHECK(ours[i].name == theirs[i].name);
        CHECK(same_bits(ours[i].tensor, theirs[i].tensor));
      }
      CHECK(same_bits(a->logits(inputs), b->logits(inputs)));
    }
}

TEST_CASE("standard positions have the bits of the general ones") {
  const Tensor x = random_tensor({2, 70, 6}, 1).detach();
  const PositionalOptions sinusoidal,
      learned{.kind = &positional_encodings::learned, .max_length = 80};
  for (const PositionalOptions& o : {sinusoidal, learned}) {
    const auto made = [&](const auto& make) {
      ScopeGuard here;
      here->seed = 3, here->calls = 0;
      return make();
    };
    const auto standard = made([&] { return make_positions(6, o, 0.1); });
    const auto general = made([&] { return std::make_unique<PositionalEncoding>(6, o, 0.1); });
    CHECK_FALSE(dynamic_cast<const PositionalEncoding*>(standard.get()));
    CHECK(same_bits((*standard)(x), (*general)(x)));
    CHECK(same_bits((*standard)(x, 7), (*general)(x, 7)));
    CHECK_THROWS_WITH_AS((*standard)(Tensor::zeros({2, 6}), 0), doctest::Contains("[B, T, 6]"),
                         Error);
  }
  CHECK_THROWS_WITH_AS((*make_positions(6, learned))(x, 11), doctest::Contains("max_length"),
                       Error);
  PositionalOptions halves;
  halves.layout = RotaryLayout::halves;
  CHECK(dynamic_cast<const PositionalEncoding*>(make_positions(6, halves).get()));
  PositionalOptions wrong;
  wrong.dim = 2;  // of a sum
  CHECK_THROWS_AS(make_positions(6, wrong), InputError);
}
