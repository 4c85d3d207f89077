#include "lab/claims/sentence.h"

namespace heed::claims::sentence {
namespace {

Tensor keys() {  // (1, 1, 6, 3)
  return Tensor::from({1, 1, 6, 3}, {0, 0, 0, 2, 0, 1, 1, -1, -2, 2, 3, 1, -2, 0, 0, 0, 2, 1});
}

}  // namespace

Tensor scores(const SimilarityRule* kind) {
  return Similarity({.kind = kind}, 1, 3, 3)(Tensor::from({1, 1, 1, 3}, {0, 2, 1}), keys());
}

// The context of a word is its key and its value, concatenated; the projections separate them.
Tensor outputs(const Change& change) {
  AttentionSetup setup = {.context_dim = 4,
                          .linear = {.bias = false},
                          .form = {.similarity = {.kind = &similarities::dot},
                                   .key_dim = 3,
                                   .value_dim = 1,
                                   .project_query = false}};
  change(setup.form);
  const GeneralAttention attention(3, 1, setup);
  set_parameter(attention, "key.weight",
                Tensor::from({3, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}));
  set_parameter(attention, "value.weight", Tensor::from({1, 4}, {0, 0, 0, 1}));
  set_parameter(attention, "output.weight", Tensor::from({3, 1}, {1, 0, 0}));
  const Tensor x = keys().reshape({1, 6, 3});
  const Tensor values = Tensor::from({1, 6, 1}, {0, -0.2, 0.3, 0.4, 0, 0.1});
  return slice(attention(x, concat({x, values}, -1), {}), -1, 0, 1);
}

double book_output(const Change& change) { return number(slice(outputs(change), 1, 5, 6)); }

}  // namespace heed::claims::sentence
