// Properties of every model, whatever it has learned.
#include "nn/models.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "checks.h"
#include "core/autograd.h"
#include "core/ops.h"
#include "gradient_check.h"
#include "variants.h"

using namespace heed;
using namespace heed::testing;

namespace {

constexpr ModelKind language_model = ModelKind::language_model, classifier = ModelKind::classifier,
                    seq2seq = ModelKind::seq2seq;

// Two examples of different lengths, padded with `padding` to these lengths.
Inputs two_examples(int64_t source_width, int64_t width, int32_t padding) {
  Inputs in;
  in.source = Ids::full({2, source_width}, padding);
  in.input = Ids::full({2, width}, padding);
  for (int64_t t = 0; t < 4; ++t)
    in.source.mutable_data()[t] = static_cast<int32_t>((t * 5 + 1) % 6);
  for (int64_t t = 0; t < 2; ++t)
    in.source.mutable_data()[source_width + t] = static_cast<int32_t>(3 - t);
  for (int64_t t = 0; t < 3; ++t)
    in.input.mutable_data()[t] = static_cast<int32_t>((t * 3 + 2) % 7);
  for (int64_t t = 0; t < 5; ++t)
    in.input.mutable_data()[width + t] = static_cast<int32_t>((t * 4 + 1) % 7);
  in.source_lengths = Ids::from({2}, {4, 2});
  in.input_lengths = Ids::from({2}, {3, 5});
  return in;
}

Ids targets_of(const Inputs& in, ModelKind kind) {
  if (kind == ModelKind::classifier) return Ids::from({2}, {2, 0});
  const int64_t width = in.input.dim(1);
  Ids target = Ids::full({2, width}, ignored);
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t t = 0; t < in.input_lengths[b]; ++t)
      target.mutable_data()[b * width + t] = static_cast<int32_t>((t + b * 2) % 7);
  return target;
}

Tensor loss_of(const Model& model, const Inputs& in, ModelKind kind) {
  return model.loss(in, targets_of(in, kind), Reduction::sum,
                    kind == ModelKind::classifier ? 0 : 0.1);
}

double distance(std::span<const real> a, std::span<const real> b) {
  REQUIRE(a.size() == b.size());
  double difference = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    size += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(difference) / std::max(std::sqrt(size), 1e-3);
}

std::vector<std::vector<real>> gradients(const Model& model) {
  std::vector<std::vector<real>> all;
  for (const NamedParameter& p : model.parameters()) {
    const Tensor g = p.tensor.grad();
    all.emplace_back(g ? std::vector<real>(g.values().begin(), g.values().end())
                       : std::vector<real>(static_cast<size_t>(p.tensor.size()), real{0}));
    Tensor(p.tensor).clear_grad();
  }
  return all;
}

// Checks that two ways to compute a loss give the same value and the same gradients.
void check_same_loss(const Model& model, const std::function<Tensor()>& one,
                     const std::function<Tensor()>& other) {
  const Tensor expected = one();
  backward(expected);
  const auto expected_gradients = gradients(model);
  const Tensor got = other();
  backward(got);
  CHECK(std::abs(got.item() - expected.item()) <= model_rounding * std::abs(expected.item()));
  const auto got_gradients = gradients(model);
  for (size_t i = 0; i < got_gradients.size(); ++i) {
    const std::string name = model.parameters()[i].name;
    if (name.ends_with("key.bias")) continue;  // its gradient is zero up to rounding
    CHECK_MESSAGE(distance(got_gradients[i], expected_gradients[i]) <= model_rounding, name);
  }
}

}  // namespace

TEST_CASE("the loss of a model is the cross entropy of its logits, and has its gradients") {
  for (const Variant& variant : variants()) {
    CAPTURE(variant.name);
    const auto model = model_of(variant);
    const Inputs in = two_examples(4, 5, 0);
    const Ids targets = targets_of(in, variant.kind);
    check_same_loss(
        *model,
        [&] {
          return cross_entropy(model->logits(in), targets, Reduction::sum, LabelSmoothing(0.2));
        },
        [&] { return model->loss(in, targets, Reduction::sum, 0.2); });
  }
}

TEST_CASE("padding changes neither a loss nor a gradient") {
  for (const Variant& variant : variants()) {
    CAPTURE(variant.name);
    const auto model = model_of(variant);
    check_same_loss(
        *model, [&] { return loss_of(*model, two_examples(4, 5, 0), variant.kind); },
        [&] { return loss_of(*model, two_examples(7, 9, 4), variant.kind); });
  }
}

TEST_CASE("an example gives the same logits by itself as in a batch") {
  for (const Variant& variant : variants()) {
    CAPTURE(variant.name);
    const auto model = model_of(variant);
    NoGradients here;
    const Tensor both = model->logits(two_examples(4, 5, 0));
    Inputs first = two_examples(4, 5, 0);
    first.source = Ids::from({1, 4}, {1, 0, 5, 4});
    first.source_lengths = Ids::from({1}, {4});
    first.input = Ids::from({1, 3}, {2, 5, 1});
    first.input_lengths = Ids::from({1}, {3});
    const Tensor single = model->logits(first);
    CHECK(distance(single.values(), both.values().subspan(0, static_cast<size_t>(single.size()))) <=
          model_rounding);
  }
}

TEST_CASE("no logit depends on a later token") {
  for (const Variant& variant : variants()) {
    if (variant.kind == classifier) continue;
    CAPTURE(variant.name);
    const auto model = model_of(variant);
    NoGradients here;
    const Tensor before = model->logits(two_examples(4, 5, 0));
    Inputs changed = two_examples(4, 5, 0);
    changed.input.mutable_data()[5 + 3] = 0;  // second example, position 3: it was 6
    const Tensor after = model->logits(changed);
    const auto row = [](const Tensor& x, size_t t) { return x.values().subspan((5 + t) * 7, 7); };
    for (size_t t = 0; t < 3; ++t) CHECK(distance(row(after, t), row(before, t)) <= model_rounding);
    CHECK(distance(row(after, 3), row(before, 3)) > 1e-3);
  }
}

TEST_CASE("gradients of whole models agree with central differences, every parameter") {
  for (const Variant& variant : variants()) {
    CAPTURE(variant.name);
    const auto model = model_of(variant);
    const Inputs in = two_examples(4, 5, 0);
    testing::check_gradients(model->parameters(),
                             [&] { return loss_of(*model, in, variant.kind); });
  }
}

TEST_CASE("every choice that a config has changes what a model computes") {
  // Two variants of one kind that gave the same loss would be one choice under two names.
  for (const ModelKind kind : {seq2seq, language_model, classifier}) {
    std::vector<std::pair<double, std::string>> losses;
    for (const Variant& variant : variants())
      if (variant.kind == kind)
        losses.emplace_back(loss_of(*model_of(variant), two_examples(4, 5, 0), kind).item(),
                            variant.name);
    std::sort(losses.begin(), losses.end());
    for (size_t i = 1; i < losses.size(); ++i)
      CHECK_MESSAGE(losses[i].first - losses[i - 1].first > 1e-6,
                    losses[i].second << " and " << losses[i - 1].second);
  }
}

TEST_CASE("embeddings start as 1/√D, of an encoder with the D of the encoder") {
  ScopeGuard here;
  here->seed = 5;
  ModelOptions o;
  o.layers = 0;
  o.dim = 16, o.encoder_dim = 400;
  const auto model = make_model(o, {50, 50, 0});
  const auto deviation = [&](const std::string& name) {
    for (const NamedParameter& parameter : model->parameters())
      if (parameter.name == name) {
        double squares = 0;
        for (const real x : parameter.tensor.values()) squares += double{x} * double{x};
        return std::sqrt(squares / static_cast<double>(parameter.tensor.size()));
      }
    return 0.0;
  };
  CHECK(deviation("source_embedding.token.weight") == doctest::Approx(1.0 / 20).epsilon(0.05));
  CHECK(deviation("embedding.token.weight") == doctest::Approx(1.0 / 4).epsilon(0.1));
}

namespace {

std::string error_of(const std::function<void(ModelOptions&)>& change) {
  ModelOptions o;
  o.kind = classifier;
  change(o);
  const std::string text = thrown<InputError>([&] { o.validate(); });
  return text.empty() ? "no error" : text;
}

}  // namespace

TEST_CASE("contradictory options of attention are rejected, each by itself") {
  const auto check = [](const char* part,
                        const std::function<void(MultiHeadAttentionOptions&)>& change) {
    CHECK_CONTAINS(error_of([&](ModelOptions& o) { change(o.attention); }), part);
  };
  check("`attention.temperature` = 1e-07",
        [](MultiHeadAttentionOptions& o) { o.temperature = 1e-7; });
  check("for the limit 0 set `attention.normaliser` = \"hardmax\"",
        [](MultiHeadAttentionOptions& o) { o.temperature = 0; });
  check("no error", [](MultiHeadAttentionOptions& o) {
    o.temperature = 1e-6, o.final_temperature = 1e-6, o.temperature_steps = 1;
  });
  check("`attention.final_temperature` = 1e-07", [](MultiHeadAttentionOptions& o) {
    o.temperature = 1, o.final_temperature = 1e-7, o.temperature_steps = 5;
  });
  check("set both or neither", [](MultiHeadAttentionOptions& o) {
    o.temperature = 1, o.final_temperature = 0.5, o.temperature_steps = 0;
  });
  check("set both or neither", [](MultiHeadAttentionOptions& o) {
    o.temperature = 1, o.final_temperature = 0, o.temperature_steps = 5;
  });
  check("`attention.straight_through` = true needs `attention.normaliser` = hardmax, not softmax",
        [](MultiHeadAttentionOptions& o) { o.straight_through = true; });
  check("`attention.key_dim` and `attention.key_dims`", [](MultiHeadAttentionOptions& o) {
    o.key_dim = 3;
    o.key_dims = {3, 3, 3, 3};
  });
  check("`attention.value_dim` and `attention.value_dims`", [](MultiHeadAttentionOptions& o) {
    o.value_dim = 3;
    o.value_dims = {3, 3, 3, 3};
  });
  check("`attention.key_dims` = [3, 3]", [](MultiHeadAttentionOptions& o) { o.key_dims = {3, 3}; });
  check("`attention.value_dims` = [3, 3]", [](MultiHeadAttentionOptions& o) {
    o.value_dims = {3, 3};
  });
  check("`attention.axes` = [0, 0]", [](MultiHeadAttentionOptions& o) { o.axes = {0, 0}; });
  check("`attention.axes` = [1, 0]", [](MultiHeadAttentionOptions& o) { o.axes = {1, 0}; });
  for (bool MultiHeadAttentionOptions::*const projects :
       {&MultiHeadAttentionOptions::project_query, &MultiHeadAttentionOptions::project_key}) {
    check("not 12 and 64",
          [=](MultiHeadAttentionOptions& o) { o.*projects = false, o.key_dim = 3; });
    check("no error", [=](MultiHeadAttentionOptions& o) { o.*projects = false; });
  }
  check("`attention.project_value` = false", [](MultiHeadAttentionOptions& o) {
    o.project_value = false;
    o.value_dim = 3;
  });
  check("values as wide as keys", [](MultiHeadAttentionOptions& o) {
    o.tie_key_value = true;
    o.value_dim = 3;
  });
  check("no error", [](MultiHeadAttentionOptions& o) {
    o.tie_key_value = true;  // then values need no projection of their own
    o.project_value = false;
    o.key_dim = 3;
  });
  check("does not add up to the output's, 64 (`dim`, or `attention.output_dim`)",
        [](MultiHeadAttentionOptions& o) {
          o.combine = Combine::concat;
          o.value_dim = 5;
        });
  check("`attention.combine` = \"mean\" needs heads as wide as its output, 64",
        [](MultiHeadAttentionOptions& o) {
          o.combine = Combine::mean;
          o.value_dim = 3;
        });
}

TEST_CASE("contradictory options are rejected with a message that names them") {
  const auto check = [](const char* part, const std::function<void(ModelOptions&)>& change) {
    CHECK_CONTAINS(error_of(change), part);
  };
  check("`attention.combine` = mean has no effect on `mixing` = \"graph_attention\", which honours",
        [](ModelOptions& o) {
          o.mixing.kind = &mixings::graph_attention;
          o.attention.combine = Combine::mean;
        });
  check("`attention.final_temperature` = 0.5", [](ModelOptions& o) {
    o.mixing.kind = &mixings::graph_attention;
    o.attention.final_temperature = 0.5;
  });
  check("`attention.output_dim` = 6 gives the head vectors of another width", [](ModelOptions& o) {
    o.kind = language_model;
    o.attention.output_dim = 6;
  });
  check("`attention.over` = \"features\" has one matrix", [](ModelOptions& o) {
    o.kind = language_model;
    o.attention.over = Over::features;
  });
  check("`attention.window` = 3", [](ModelOptions& o) {
    o.pool = Pool::learned;
    o.attention.window = 3;
  });
  check("`attention.causal` = true", [](ModelOptions& o) {
    o.pool = Pool::learned;
    o.attention.causal = true;
  });
  check("is not such a product", [](ModelOptions& o) {
    o.positional.kind = &positional_encodings::rotary;
    o.attention.similarity = &similarities::additive;
  });
  check("a decoder must not", [](ModelOptions& o) {
    o.kind = language_model;
    o.mixing.kind = &mixings::dense;
  });
  check("a decoder must not", [](ModelOptions& o) {
    o.kind = seq2seq;
    o.mixing.kind = &mixings::graph_attention;
  });
  check("circular", [](ModelOptions& o) {
    o.kind = language_model;
    o.mixing.kind = &mixings::convolution;
    o.mixing.padding = Padding::circular;
  });
  check("circular_axes: expected an integer, 0 … 3, found 4", [](ModelOptions& o) {
    o.kind = language_model;
    o.mixing.kind = &mixings::convolution;
    o.mixing.padding = Padding::circular;
    o.mixing.circular_axes = {0, 4};
  });
  check("`kernel_size` = 4 must be odd", [](ModelOptions& o) {
    o.mixing.kind = &mixings::convolution;
    o.mixing.kernel_size = 4;
  });
  check("is odd", [](ModelOptions& o) {
    o.positional.kind = &positional_encodings::rotary;
    o.attention.key_dim = 5;
  });
  check("a head of width 5 is odd", [](ModelOptions& o) {  // the encoder's, not the decoder's
    o.kind = seq2seq;
    o.positional.kind = &positional_encodings::rotary;
    o.encoder_dim = 20;
  });
  check("divide 30, the width", [](ModelOptions& o) { o.kind = seq2seq, o.encoder_dim = 30; });
  check("`attention.window` = 3", [](ModelOptions& o) {
    o.kind = seq2seq;
    o.pool = Pool::learned;  // which only a classifier has
    o.mixing.kind = &mixings::gru;
    o.attention.window = 3;
  });
  check("`attention.axes`", [](ModelOptions& o) {
    o.mixing.kind = &mixings::convolution;
    o.attention.axes = {0};
  });
  check("`attention.graph_distances` = 2", [](ModelOptions& o) {
    o.mixing.kind = &mixings::graph_attention;
    o.attention.graph_distances = 2;
  });
  check("heads of graph attention", [](ModelOptions& o) {
    o.mixing.kind = &mixings::graph_attention;
    o.heads = 3;
  });
  check("`tie_weights` = false", [](ModelOptions& o) {
    o.kind = language_model;
    o.positional.combine = PositionalCombine::concat;
    o.positional.dim = 8;
  });
  check("acts inside attention", [](ModelOptions& o) {
    o.positional.kind = &positional_encodings::alibi;
    o.mixing.kind = &mixings::gru;
  });
  check("`encoder_dim`", [](ModelOptions& o) { o.encoder_dim = 32; });
  check("`encoder_dim`", [](ModelOptions& o) { o.kind = language_model, o.encoder_dim = 32; });
  check("`share_embeddings` = true needs `kind`",
        [](ModelOptions& o) { o.share_embeddings = true; });
  check("needs one width, not `encoder_dim` = 32", [](ModelOptions& o) {
    o.kind = seq2seq;
    o.share_embeddings = true;
    o.encoder_dim = 32;
  });
  check("no error", [](ModelOptions& o) {
    o.kind = seq2seq;
    o.share_embeddings = true;
    o.encoder_dim = o.dim;
  });
  check("no error", [](ModelOptions& o) {  // a classifier computes no logits of tokens
    o.positional.combine = PositionalCombine::concat;
    o.positional.dim = 8;
  });
  check("`attention.window` = 3", [](ModelOptions& o) {
    o.mixing.kind = &mixings::gru;
    o.attention.window = 3;
  });
  check("`attention.graph_distances` = 2", [](ModelOptions& o) {
    o.mixing.kind = &mixings::gru;
    o.attention.graph_distances = 2;
  });
  check("`attention.key_dim`", [](ModelOptions& o) { o.dim = 10, o.heads = 4; });
}
