// Models of two sources, tokens and vectors: the classifier whose vectors attend to the text, and
// the encoder-decoder with an encoder for each.
#include "nn/two_sources.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/ops.h"
#include "gradient_check.h"
#include "nn/models.h"
#include "support.h"
#include "variants.h"

using namespace heed;
using namespace heed::testing;

namespace {

const ModelSizes sizes_of_two{
    .source_vocabulary = 6, .vocabulary = 7, .classes = 3, .features = 2, .two_sources = true};

std::unique_ptr<Model> model_of_two(ModelKind kind, Pool pool = Pool::none) {
  ScopeGuard here;
  here->seed = 5;
  here->calls = 0;
  Variant variant = variants()[0];
  variant.kind = kind;
  ModelOptions o = variant.options();
  o.pool = pool;
  return make_model(o, sizes_of_two);
}

// Two examples with 2 and 3 tokens, padded to `time`, and 4 vectors each.
Inputs two_sources(ModelKind kind, int64_t time = 3, int32_t padding = 0) {
  Inputs in;
  in.source = Ids::full({2, time}, padding);
  in.source_lengths = Ids::from({2}, {2, 3});
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t t = 0; t < in.source_lengths[b]; ++t)
      in.source.mutable_data()[b * time + t] = static_cast<int32_t>((2 * t + b + 1) % 6);
  in.features = Tensor::empty({2, 4, 2});
  for (int64_t i = 0; i < 16; ++i)
    in.features.mutable_data()[i] = static_cast<real>(std::sin(static_cast<double>(3 * i + 1)));
  if (kind == ModelKind::classifier) {
    in.input_lengths = Ids::from({2}, {4, 4});
    return in;
  }
  for (int64_t b = 0; b < 2; ++b) in.source_lengths.mutable_data()[b] += 4;
  in.input = Ids::from({2, 3}, {1, 2, 3, 4, 5, 6});
  in.input_lengths = Ids::from({2}, {3, 3});
  return in;
}

constexpr ModelKind kinds[] = {ModelKind::classifier, ModelKind::seq2seq};

}  // namespace

TEST_CASE("models of two sources have right gradients, every parameter") {
  for (const ModelKind kind : kinds) {
    const auto model = model_of_two(kind);
    const Inputs in = two_sources(kind);
    const Ids targets = kind == ModelKind::seq2seq
                            ? Ids::from({2, 3}, {2, 3, ignored, 5, 6, 0})
                            : Ids::from({2, 4}, {0, 1, 2, ignored, 1, 0, 0, 2});
    check_gradients(model->parameters(), [&] { return cross_entropy(model->logits(in), targets); });
  }
}

TEST_CASE("models of two sources depend on both, and not on padding") {
  for (const ModelKind kind : kinds) {
    const NoGradients here;
    const auto model = model_of_two(kind);
    const Tensor logits = model->logits(two_sources(kind));
    CHECK(relative_difference(model->logits(two_sources(kind, 5, 3)), logits) < 1e-5);
    Inputs other = two_sources(kind);
    other.source.mutable_data()[0] = 5;
    CHECK(relative_difference(model->logits(other), logits) > 1e-4);
    other = two_sources(kind);
    other.features.mutable_data()[2] += 1;
    CHECK(relative_difference(model->logits(other), logits) > 1e-4);
  }
  CHECK(model_of_two(ModelKind::classifier, Pool::mean)
            ->logits(two_sources(ModelKind::classifier))
            .shape() == Shape{2, 3});
}

TEST_CASE("the memory of two sources is the states of the vectors, then those of the tokens") {
  const NoGradients here;
  const auto model = model_of_two(ModelKind::seq2seq);
  Inputs in = two_sources(ModelKind::seq2seq);
  const Tensor memory = model->encode(in);
  CHECK(memory.shape() == Shape{2, 7, 4});
  const auto first = [](const Tensor& x) { return slice(x, 1, 0, 4); };
  const auto last = [](const Tensor& x) { return slice(x, 1, 4, 7); };
  in.source.mutable_data()[0] = 5;
  CHECK(same_bits(first(model->encode(in)), first(memory)));
  CHECK(relative_difference(last(model->encode(in)), last(memory)) > 1e-4);
  in = two_sources(ModelKind::seq2seq);
  in.features.mutable_data()[2] += 1;
  CHECK(relative_difference(first(model->encode(in)), first(memory)) > 1e-4);
  CHECK(same_bits(last(model->encode(in)), last(memory)));
}
