#include "theorems/sentence.h"

namespace heed::theorems::sentence {
namespace {

Tensor keys() {  // (1, 1, 6, 3)
  return tensor({1, 1, 6, 3}, {0, 0, 0, 2, 0, 1, 1, -1, -2, 2, 3, 1, -2, 0, 0, 0, 2, 1});
}

}  // namespace

Tensor scores(const SimilarityRule* kind) {
  SimilarityOptions options;
  options.kind = kind;
  return Similarity(options, 1, 3, 3)(tensor({1, 1, 1, 3}, {0, 2, 1}), keys());
}

// The context of a word is its key and its value, concatenated; the projections separate them.
Tensor outputs(const Change& change) {
  AttentionSetup setup = without_bias();
  setup.context_dim = 4;
  setup.form.similarity.kind = &similarities::dot;
  setup.form.key_dim = 3;
  setup.form.value_dim = 1;
  setup.form.project_query = false;
  change(setup.form);
  const MultiHeadAttention attention(3, 1, setup);
  set_parameter(attention, "key.weight", tensor({3, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}));
  set_parameter(attention, "value.weight", tensor({1, 4}, {0, 0, 0, 1}));
  set_parameter(attention, "output.weight", tensor({3, 1}, {1, 0, 0}));
  const Tensor x = keys().reshape({1, 6, 3});
  const Tensor values = tensor({1, 6, 1}, {0, -0.2, 0.3, 0.4, 0, 0.1}), context[] = {x, values};
  return slice(attention(x, concat(context, -1), {}), -1, 0, 1);
}

double book_output(const Change& change) {
  const Tensor all = outputs(change);
  return static_cast<double>(all.data()[5]);
}

}  // namespace heed::theorems::sentence
