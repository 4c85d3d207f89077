// course/miniature.cpp against the library: the same weights and words give the same losses.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/autograd.h"
#include "nn/models.h"
#include "optim/optimizer.h"

#define main miniature_main
namespace miniature {
#include "course/miniature.cpp"
}
#undef main

using namespace heed;

namespace {

// The options of the miniature's model.
ModelOptions miniature_options() {
  ModelOptions options;
  options.kind = ModelKind::language_model;
  options.layers = 1;
  options.dim = miniature::width;
  options.heads = miniature::heads;
  options.activation = Activation::relu;
  options.norm = {.kind = NormKind::rms};
  options.bias = false;
  options.tie_weights = false;
  options.positional.kind = &positional_encodings::learned;
  options.positional.max_length = miniature::max_length;
  return options;
}

std::map<std::string, miniature::Tensor> named_weights(const miniature::Model& model) {
  const std::string layer = "decoder.layers.0.";
  return {{"embedding.token.weight", model.token},
          {"embedding.position.weight", model.position},
          {layer + "attention_norm.weight", model.attention_norm},
          {layer + "attention.query.weight", model.query},
          {layer + "attention.key.weight", model.key},
          {layer + "attention.value.weight", model.value},
          {layer + "attention.output.weight", model.output},
          {layer + "feed_forward_norm.weight", model.feed_forward_norm},
          {layer + "feed_forward.up.weight", model.up},
          {layer + "feed_forward.down.weight", model.down},
          {"decoder.norm.weight", model.norm},
          {"head.weight", model.head}};
}

void copy_weights(const miniature::Model& from, Model& to) {
  std::map<std::string, Tensor> values;
  for (const auto& [name, weight] : named_weights(from)) {
    const Shape shape = to.parameter(name).shape();
    values[name] = Tensor::from(shape, std::span<const double>(weight->values));
  }
  to.load(values);
}

miniature::Ids spelled(const std::string& word) {
  miniature::Ids ids{0};
  for (const char letter : word) ids.push_back(letter - 'a' + 1);
  ids.push_back(0);
  return ids;
}

}  // namespace

TEST_CASE("miniature: 50 steps have the losses of the library") {
  std::mt19937_64 random(3);
  const miniature::Model small(random);
  const auto model = make_model(miniature_options(), {.vocabulary = miniature::vocabulary});
  copy_weights(small, *model);

  miniature::Adam adam;
  Optimizer optimizer({.kind = &optimizers::adam, .clip_norm = 0, .beta2 = 0.99},
                      model->parameters());
  const std::vector<std::string> words{"query", "key",          "value",
                                       "a",     "transformers", "attentiveness"};
  for (int step = 0; step < 50; ++step) {
    const miniature::Ids word = spelled(words[static_cast<size_t>(step) % words.size()]);
    const auto length = static_cast<int64_t>(word.size()) - 1;
    const std::vector<int32_t> ids(word.begin(), word.end());
    const Inputs inputs{.input = Ids::from({1, length}, std::span(ids).first(ids.size() - 1))};
    const Ids targets = Ids::from({1, length}, std::span(ids).last(ids.size() - 1));

    optimizer.zero_grad();
    const Tensor loss = model->loss(inputs, targets, Reduction::sum);
    backward(loss);
    optimizer.set_lr(0.01);
    optimizer.step(1.0 / static_cast<double>(length));

    const double expected = miniature::train_step(small, adam, word, 0.01);
    CAPTURE(step);
    CHECK(std::abs(loss.item() / static_cast<double>(length) - expected) < 1e-9);
  }
}
