// Taps see what the definitions name; one that only looks changes no bit; what one replaces is
// used.
#include "nn/tap.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "core/autograd.h"
#include "core/observer.h"
#include "core/ops.h"
#include "mixing_check.h"
#include "nn/cache.h"
#include "nn/models.h"

using namespace heed;
using namespace heed::testing;

namespace {

using TapReplace = std::function<Tensor(const Module&, Site, const Tensor&)>;

// Keeps every value it sees, in order; `replace` may return another.
struct Everything final : Tap {
  explicit Everything(TapReplace with = {}) : replace(std::move(with)) {}
  bool wants(const Module&, Site) override { return true; }
  Tensor see(const Module& layer, Site site, const Tensor& value) override {
    seen.emplace_back(&layer, site, value.detach());
    return replace ? replace(layer, site, value) : Tensor();
  }
  int count(Site site) const {
    int n = 0;
    for (const auto& each : seen) n += std::get<1>(each) == site;
    return n;
  }
  const Tensor& first(Site site) const {
    for (const auto& each : seen)
      if (std::get<1>(each) == site) return std::get<2>(each);
    throw Error("not seen");
  }

  TapReplace replace;
  std::vector<std::tuple<const Module*, Site, Tensor>> seen;
};

struct Nothing final : Tap {
  bool wants(const Module&, Site) override { return false; }
  Tensor see(const Module&, Site, const Tensor&) override { throw Error("not wanted"); }
};

TapReplace at_site(Site where, const std::function<Tensor(const Tensor&)>& f) {
  return [=](const Module&, Site site, const Tensor& value) {
    return site == where ? f(value) : Tensor();
  };
}

using TapForm = std::function<void(ModelOptions&)>;

std::unique_ptr<Model> tapped_model(
    ModelKind kind, const TapForm& change = [](ModelOptions&) {}) {
  return small_model(kind, change, {6, 7, 3});
}

Inputs tap_example() {
  return {Ids::from({2, 3}, {1, 2, 3, 4, 5, 0}), Ids::from({2}, {3, 2}),
          Ids::from({2, 4}, {1, 2, 3, 4, 6, 5, 4, 0}), Ids::from({2}, {4, 3})};
}

const TapForm tap_forms[] = {
    [](ModelOptions&) {},
    [](ModelOptions& o) { o.norm_first = false; },
    [](ModelOptions& o) { o.mixing.residual = false; },
    [](ModelOptions& o) { o.activation = swiglu; },
    [](ModelOptions& o) { o.attention.similarity = &similarities::cosine; },
    [](ModelOptions& o) { o.attention.normaliser = &normalisers::hardmax; },
    [](ModelOptions& o) {
      o.attention.key_dims = {3, 2}, o.attention.value_dims = {1, 4};
    },
    [](ModelOptions& o) { o.positional.kind = &positional_encodings::relative; },
    [](ModelOptions& o) { o.positional.kind = &positional_encodings::rotary; },
};
constexpr ModelKind tap_kinds[] = {ModelKind::seq2seq, ModelKind::language_model,
                                   ModelKind::classifier};

// Counts operations.
struct TapOperations final : Observer {
  void op_finished(const char* name, const Tensor&, std::span<const Tensor>, const Node*) override {
    names.emplace_back(name);
  }
  std::vector<std::string> names;
};

}  // namespace

TEST_CASE("a tap that only looks changes no bit of outputs, gradients and random streams") {
  for (const ModelKind kind : tap_kinds)
    for (const TapForm& form : tap_forms) {
      const auto model = tapped_model(kind, [&](ModelOptions& o) {
        o.dropout = o.attention_dropout = 0.2;
        form(o);
      });
      check_changes_nothing(*model, tap_example(), [] { return std::make_shared<Everything>(); });
    }
}

TEST_CASE("a tap that wants nothing costs no operation") {
  for (const TapForm& form : tap_forms) {
    const auto model = tapped_model(ModelKind::seq2seq, form);
    TapOperations without, with;
    {
      const ObserverScope here(without);
      model->logits(tap_example());
    }
    const Nothing tap;
    const ObserverScope here(with);
    model->logits(tap_example());
    CHECK(with.names == without.names);
  }
}

TEST_CASE("a value that replaces its equal gives the same result, and another value another") {
  constexpr Site sites[] = {Site::tokens,       Site::embedded, Site::queries,    Site::keys,
                            Site::values,       Site::scores,   Site::weights,    Site::heads,
                            Site::head_outputs, Site::scale,    Site::normalised, Site::activation,
                            Site::sublayer,     Site::stream,   Site::logits};
  NoGradients here;
  for (const ModelKind kind : tap_kinds)
    for (const TapForm& form : tap_forms) {
      const auto model = tapped_model(kind, form);
      const Tensor expected = model->logits(tap_example());
      for (const Site site : sites) {
        CAPTURE(static_cast<int>(site));
        {
          Everything same(at_site(site, [](const Tensor& x) { return x.clone(); }));
          CHECK(relative_difference(model->logits(tap_example()), expected) < 20 * rounding);
          CHECK(same.count(site) > 0);
        }
        Everything other(at_site(site, [](const Tensor& x) {
          Tensor y = x.clone();
          for (int64_t i = 0; i < y.size(); ++i) y.mutable_data()[i] = static_cast<real>(1 + i % 3);
          return y;
        }));
        CHECK(relative_difference(model->logits(tap_example()), expected) > 0);
      }
    }
}

TEST_CASE("no tap: a layer computes its definition, and splits no heads") {
  const MultiHeadAttention attention(8, 2, {.causal = true});
  const Norm norm(8);
  const Tensor x = random_tensor({2, 5, 8}, 1).detach();
  TapOperations seen;
  const ObserverScope here(seen);
  norm(attention(x, SequenceContext{}));
  CHECK(seen.names == std::vector<std::string>{"linear", "linear", "linear",
                                               "scaled_dot_product_attention", "linear",
                                               "layer_norm"});
}

TEST_CASE("a tap sees V, what each head adds to the output, and the scale of a norm") {
  NoGradients here;
  const auto form = [](Combine combine, std::vector<int64_t> widths) {
    MultiHeadAttentionOptions setup;
    setup.combine = combine;
    setup.value_dims = std::move(widths);
    return setup;
  };
  const MultiHeadAttentionOptions setups[] = {form(Combine::concat_projection, {}),
                                              form(Combine::concat_projection, {3, 5}),
                                              form(Combine::concat, {}),
                                              form(Combine::weighted, {8, 8}),
                                              form(Combine::tensor, {8, 8}),
                                              form(Combine::mean, {8, 8})};
  const Tensor x = random_tensor({2, 5, 8}, 1).detach();
  for (const MultiHeadAttentionOptions& setup : setups) {
    const auto attention = make_attention(8, 2, setup);
    shake(*attention);
    Everything tap;
    const Tensor y = (*attention)(x, SequenceContext{});
    const auto parameter = [&](const char* name) {
      for (const NamedParameter& p : attention->parameters())
        if (p.name == name) return p.tensor;
      return Tensor();
    };
    CHECK(same_bits(tap.first(Site::values),
                    linear(x, parameter("value.weight"), parameter("value.bias"))));
    const Tensor parts = tap.first(Site::head_outputs);
    CHECK(parts.shape() == Shape{2, 2, 5, 8});
    const Tensor bias = parameter("output.bias");
    const Tensor added = sum(parts, {1});
    CHECK(relative_difference(bias ? added + bias : added, y) < 10 * rounding);
    if (setup.combine != Combine::concat_projection) continue;
    // The second head, from its columns of z and Wo.
    const int64_t first = setup.value_dims.empty() ? 4 : 3;
    const Tensor second = linear(slice(tap.first(Site::heads), 2, first, 8),
                                 slice(parameter("output.weight"), 1, first, 8));
    CHECK(relative_difference(slice(parts, 1, 1, 2).reshape({2, 5, 8}), second) < 10 * rounding);
  }
  for (const NormKind kind : {NormKind::layer, NormKind::rms}) {
    const Norm norm(8, {.kind = kind, .epsilon = 0.01});
    Everything tap;
    norm(x);
    CHECK(tap.first(Site::scale).shape() == Shape{2, 5, 1});
    double squares = 0, mean = 0;
    for (int64_t i = 0; i < 8; ++i) mean += static_cast<double>(x.data()[i]) / 8;
    if (kind == NormKind::rms) mean = 0;
    for (int64_t i = 0; i < 8; ++i) squares += std::pow(static_cast<double>(x.data()[i]) - mean, 2);
    CHECK(static_cast<double>(tap.first(Site::scale).data()[0]) ==
          doctest::Approx(std::sqrt(squares / 8 + 0.01)).epsilon(10 * rounding));
    Everything doubled(at_site(Site::scale, [](const Tensor& s) { return s + s; }));
    const Tensor half = norm(x);
    CHECK(relative_difference(half + half, tap.first(Site::normalised)) < 10 * rounding);
  }
}

TEST_CASE("the residual stream is the embedding plus what sublayers add, bit for bit") {
  NoGradients here;
  const auto model = tapped_model(ModelKind::language_model);
  Everything tap;
  model->logits(tap_example());
  Tensor stream = tap.first(Site::embedded), added;
  int sublayers = 0;
  for (const auto& [layer, site, value] : tap.seen) {
    if (site == Site::sublayer) added = value;
    if (site != Site::stream) continue;
    ++sublayers;
    stream = stream + added;
    CHECK(same_bits(stream, value));
  }
  CHECK(sublayers == 4);
}

TEST_CASE("heads are the weights times the values, and Wo of them is what is added") {
  NoGradients here;
  const MultiHeadAttention attention(8, 2, {.causal = true});
  const Tensor x = random_tensor({2, 5, 8}, 1).detach();
  Everything tap;
  const Tensor y = attention(x, SequenceContext{});
  const Tensor v =
      linear(x, attention.parameter("value.weight"), attention.parameter("value.bias"));
  CHECK(relative_difference(merge_heads(matmul(tap.first(Site::weights), split_heads(v, 2))),
                            tap.first(Site::heads)) < 10 * rounding);
  CHECK(same_bits(linear(tap.first(Site::heads), attention.parameter("output.weight"),
                         attention.parameter("output.bias")),
                  y));
}

TEST_CASE("a head that is set to 0 is a head without columns in Wo, bit for bit") {
  NoGradients here;
  const auto model = tapped_model(ModelKind::language_model),
             other = tapped_model(ModelKind::language_model);
  Tensor w = other->parameter("decoder.layers.1.attention.output.weight");
  for (int64_t row = 0; row < 8; ++row)
    for (int64_t column = 4; column < 8; ++column) w.mutable_data()[row * 8 + column] = 0;
  const auto names = model->part_names();
  Everything tap([&](const Module& layer, Site site, const Tensor& z) {
    if (site != Site::heads || names.at(&layer) != "decoder.layers.1.attention") return Tensor();
    Tensor cut = z.clone();
    for (int64_t i = 0; i < cut.size(); ++i)
      if (i % 8 >= 4) cut.mutable_data()[i] = 0;
    return cut;
  });
  const Tensor cut_logits = model->logits(tap_example());
  const Nothing inner;  // the other model is not cut
  CHECK(same_bits(cut_logits, other->logits(tap_example())));
}

TEST_CASE("a replaced value has a gradient") {
  const auto model = tapped_model(ModelKind::language_model);
  Tensor mine = random_tensor({2, 2, 4, 4}, 3);
  Everything tap(at_site(Site::scores, [&](const Tensor&) { return mine; }));
  backward(read_out(model->logits(tap_example())));
  CHECK(static_cast<bool>(mine.grad()));
}

TEST_CASE("taps see new positions of a cache, and those of both sides of cross-attention") {
  NoGradients here;
  ModelOptions o;
  o.kind = ModelKind::language_model;
  o.dim = 8, o.heads = 2;
  const LanguageModel model(o, {0, 7});
  KeyValueCache cache(1);
  model.hidden(Ids::from({1, 3}, {1, 2, 3}), &cache);
  {
    Everything tap;
    model.hidden(Ids::from({1, 1}, {4}), &cache);
    CHECK(tap.first(Site::weights).shape() == Shape{1, 2, 1, 4});
    CHECK(tap.first(Site::heads).shape() == Shape{1, 1, 8});
  }
  const auto pair = tapped_model(ModelKind::seq2seq);
  Everything tap;
  pair->logits(tap_example());
  int crossing = 0;
  for (const auto& [layer, site, value] : tap.seen)
    if (site == Site::weights && value.shape() == Shape{2, 2, 4, 3}) ++crossing;
  CHECK(crossing == 2);
}

TEST_CASE("a value of another shape is an error") {
  const auto model = tapped_model(ModelKind::language_model);
  Everything tap(at_site(Site::stream, [](const Tensor&) { return Tensor::zeros({1}); }));
  CHECK_THROWS_WITH_AS(model->logits(tap_example()),
                       doctest::Contains("tap: expected a value of shape [2, 4, 8]"), Error);
}

TEST_CASE("a preactivation can be seen, and its activation replaced") {
  const auto model = tapped_model(ModelKind::language_model);
  Everything tap;
  model->logits(tap_example());
  CHECK(same_bits(relu(tap.first(Site::preactivation)), tap.first(Site::activation)));
  Everything other(at_site(Site::preactivation, [](const Tensor& x) { return x.clone(); }));
  CHECK_THROWS_WITH_AS(model->logits(tap_example()), doctest::Contains("replace the activation"),
                       Error);
}
