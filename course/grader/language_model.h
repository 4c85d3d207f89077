// Configs of language models for exercises that count: parameters, FLOPs, bytes. What is expected
// is counted by the library, from a model of this config.
#pragma once

#include <algorithm>
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

// A number, and wrong ones that are known.
struct Count {
  double expected;
  std::vector<WrongNumber> mistakes;

  // Returns whether a wrong number tells which mistake it is.
  bool is_clear() const {
    std::vector<double> wrong;
    for (const WrongNumber& mistake : mistakes)
      if (mistake.value != expected) wrong.push_back(mistake.value);
    std::sort(wrong.begin(), wrong.end());
    return std::adjacent_find(wrong.begin(), wrong.end()) == wrong.end();
  }
};

// Changes the options of a fresh config, and counts, until the count is clear.
template <class Change, class CountOf>
std::pair<CountedModel, Count> clear_count(Grader& g, const Change& change,
                                           const CountOf& count_of) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    CountedModel model = counted_model(g);
    change(model.options);
    Count count = count_of(model);
    if (count.is_clear()) return {std::move(model), std::move(count)};
  }
  throw Error("no config tells the known mistakes apart");
}

}  // namespace heed::course
