// Configs of language models for exercises that count: parameters, FLOPs, bytes. What is expected
// is counted by the library, from a model of this config.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/scope.h"
#include "course/grader/grader.h"
#include "nn/models.h"

namespace heed::course {

struct CountedModel {
  ModelOptions options;
  int64_t vocabulary = 0;

  std::unique_ptr<LanguageModel> make() const {
    return std::make_unique<LanguageModel>(options, ModelSizes{.vocabulary = vocabulary});
  }
  std::string name() const {
    const ModelOptions& o = options;
    return fmt::format(
        "layers = {}, dim = {}, heads = {}, feed_forward = {}, key_dim = {}, value_dim = {}, "
        "bias = {}, tie_weights = {}, max_length = {}, vocabulary = {}",
        o.layers, o.dim, o.heads, o.feed_forward, o.attention.key_dim, o.attention.value_dim,
        o.bias, o.tie_weights, o.positional.max_length, vocabulary);
  }
};

// Fresh sizes, which are all different.
inline CountedModel counted_model(Grader& g) {
  CountedModel model;
  ModelOptions& o = model.options;
  o.kind = ModelKind::language_model;
  o.layers = g.size(3, 5);
  o.heads = 2;
  o.dim = o.heads * g.size(5, 8);
  o.feed_forward = g.size(41, 59);
  o.tie_weights = false;
  o.positional.kind = &positional_encodings::learned;
  o.positional.max_length = g.size(19, 29);
  model.vocabulary = g.size(71, 99);
  return model;
}

// Changes the options of a fresh config until each known wrong answer that counts something else
// than `expected(model)` has a number of its own, so that the number tells which mistake it is.
template <class Change, class Expected, class Wrong, class Count>
CountedModel clear_model(Grader& g, const Change& change, const Expected& expected,
                         const std::vector<Wrong>& wrong_answers, const Count& count) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    CountedModel model = counted_model(g);
    change(model.options);
    const double right = expected(model);
    std::map<double, std::string> sentences;
    bool clear = true;
    for (const Wrong& wrong : wrong_answers) {
      const double value = count(std::get<0>(wrong.functions), model);
      clear =
          clear && (value == right ||
                    sentences.try_emplace(value, wrong.sentence).first->second == wrong.sentence);
    }
    if (clear) return model;
  }
  throw Error("no config tells the known mistakes apart");
}

}  // namespace heed::course
