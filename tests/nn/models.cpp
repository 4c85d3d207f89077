// What every model must keep to, whatever it has learned.
#include "nn/models.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/autograd.h"
#include "core/ops.h"

using namespace heed;

namespace {

#ifdef HEED_DOUBLE
constexpr double rounding = 1e-12;
#else
constexpr double rounding = 2e-5;
#endif

struct Fixture {
  ModelOptions options;
  std::unique_ptr<Model> model;
  Fixture(ModelKind kind, bool norm_first, int64_t layers = 2,
          Activation activation = Activation::gelu, NormKind norm = NormKind::layer) {
    ScopeGuard here;
    here->seed = 5;
    here->calls = 0;
    options.kind = kind;
    options.layers = layers;
    options.dim = 4 * layers;
    options.heads = 2;
    options.feed_forward = 6 * layers;
    options.activation = activation;
    options.norm = norm;
    options.norm_first = norm_first;
    options.positional.kind = norm_first ? PositionalKind::learned : PositionalKind::sinusoidal;
    options.positional.max_length = 9;
    model = make_model(options, {6, 7, 3});
  }
};

// Two examples of different lengths, padded with `padding` to the given widths.
Inputs two_examples(int64_t source_width, int64_t width, int32_t padding) {
  Inputs in;
  in.source = Ids::full({2, source_width}, padding);
  in.input = Ids::full({2, width}, padding);
  for (int64_t t = 0; t < 4; ++t) in.source.data()[t] = static_cast<int32_t>((t * 5 + 1) % 6);
  for (int64_t t = 0; t < 2; ++t) in.source.data()[source_width + t] = static_cast<int32_t>(3 - t);
  for (int64_t t = 0; t < 3; ++t) in.input.data()[t] = static_cast<int32_t>((t * 3 + 2) % 7);
  for (int64_t t = 0; t < 5; ++t)
    in.input.data()[width + t] = static_cast<int32_t>((t * 4 + 1) % 7);
  in.source_lengths = Ids::from({2}, {4, 2});
  in.input_lengths = Ids::from({2}, {3, 5});
  return in;
}

Tensor loss_of(const Model& model, const Inputs& in, ModelKind kind) {
  if (kind == ModelKind::classifier) return cross_entropy(model.logits(in), Ids::from({2}, {2, 0}));
  const int64_t width = in.input.dim(1);
  Ids target = Ids::full({2, width}, ignored);
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t t = 0; t < in.input_lengths[b]; ++t)
      target.data()[b * width + t] = static_cast<int32_t>((t + b * 2) % 7);
  return cross_entropy(model.logits(in), target, 0.1);
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

constexpr ModelKind kinds[] = {ModelKind::seq2seq, ModelKind::language_model,
                               ModelKind::classifier};

}  // namespace

TEST_CASE("padding changes neither a loss nor a gradient") {
  for (ModelKind kind : kinds)
    for (bool norm_first : {true, false}) {
      const Fixture f(kind, norm_first);
      const Tensor tight = loss_of(*f.model, two_examples(4, 5, 0), kind);
      backward(tight);
      const auto expected = gradients(*f.model);
      const Tensor wide = loss_of(*f.model, two_examples(7, 9, 4), kind);
      backward(wide);
      CHECK(std::abs(wide.item() - tight.item()) <= rounding * std::abs(tight.item()));
      const auto got = gradients(*f.model);
      for (size_t i = 0; i < got.size(); ++i)
        CHECK_MESSAGE(distance(got[i], expected[i]) <= rounding, f.model->parameters()[i].name);
    }
}

TEST_CASE("an example alone and in a batch gives the same numbers") {
  for (ModelKind kind : kinds) {
    const Fixture f(kind, true);
    ScopeGuard here;
    here->gradients = false;
    const Tensor both = f.model->logits(two_examples(4, 5, 0));
    Inputs first = two_examples(4, 5, 0);
    first.source = Ids::from({1, 4}, {1, 0, 5, 4});
    first.source_lengths = Ids::from({1}, {4});
    first.input = Ids::from({1, 3}, {2, 5, 1});
    first.input_lengths = Ids::from({1}, {3});
    const Tensor alone = f.model->logits(first);
    CHECK(distance(alone.values(), both.values().subspan(0, static_cast<size_t>(alone.size()))) <=
          rounding);
  }
}

TEST_CASE("no logit depends on a later token") {
  for (ModelKind kind : {ModelKind::seq2seq, ModelKind::language_model}) {
    const Fixture f(kind, true);
    ScopeGuard here;
    here->gradients = false;
    const Tensor before = f.model->logits(two_examples(4, 5, 0));
    Inputs changed = two_examples(4, 5, 0);
    changed.input.data()[5 + 3] = 0;  // second example, place 3: it was 6
    const Tensor after = f.model->logits(changed);
    const auto row = [](const Tensor& x, size_t t) { return x.values().subspan((5 + t) * 7, 7); };
    for (size_t t = 0; t < 3; ++t) CHECK(distance(row(after, t), row(before, t)) <= rounding);
    CHECK(distance(row(after, 3), row(before, 3)) > 1e-3);
    CHECK(distance(row(after, 4), row(before, 4)) > 1e-3);
  }
}

#ifdef HEED_DOUBLE
TEST_CASE(
    "gradients of whole models agree with central differences, every parameter, every element") {
  const auto check_model = [](const Fixture& f, ModelKind kind) {
    const Inputs in = two_examples(4, 5, 0);
    backward(loss_of(*f.model, in, kind));
    const auto analytic = gradients(*f.model);
    ScopeGuard here;
    here->gradients = false;
    const auto parameters = f.model->parameters();
    for (size_t p = 0; p < parameters.size(); ++p) {
      Tensor tensor = parameters[p].tensor;
      for (int64_t i = 0; i < tensor.size(); ++i) {
        const real kept = tensor.data()[i], h = 1e-5;
        const auto loss_at = [&](real value) {
          tensor.mutable_data()[i] = value;
          return loss_of(*f.model, in, kind).item();
        };
        const double numeric = (loss_at(kept + h) - loss_at(kept - h)) / (2 * h);
        loss_at(kept);
        const double got = analytic[p][static_cast<size_t>(i)];
        CHECK_MESSAGE(std::abs(got - numeric) <= 1e-7 + 1e-6 * std::abs(numeric),
                      parameters[p].name << "[" << i << "]: got " << got << ", wanted " << numeric);
      }
    }
  };
  for (ModelKind kind : kinds)
    for (bool norm_first : {true, false}) check_model(Fixture(kind, norm_first, 1), kind);
  for (Activation a : {Activation::gelu_tanh, Activation::silu, Activation::swiglu})
    check_model(Fixture(ModelKind::language_model, true, 1, a, NormKind::rms),
                ModelKind::language_model);
}
#endif
