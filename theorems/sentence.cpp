#include "theorems/sentence.h"

namespace heed::theorems {

Tensor Sentence::keys() {
  return tensor({1, 1, 6, 3}, {0, 0, 0, 2, 0, 1, 1, -1, -2, 2, 3, 1, -2, 0, 0, 0, 2, 1});
}

Tensor Sentence::values() { return tensor({1, 6, 1}, {0, -0.2, 0.3, 0.4, 0, 0.1}); }

Tensor Sentence::scores(SimilarityKind kind) {
  SimilarityOptions options;
  options.kind = kind;
  return Similarity(options, 1, 3, 3)(tensor({1, 1, 1, 3}, {0, 2, 1}), keys());
}

// Its context is a key and a value side by side, and its matrices take them apart.
Tensor Sentence::readings(const Change& change) {
  AttentionSetup setup = plain();
  setup.context_dim = 4;
  setup.form.similarity.kind = SimilarityKind::dot;
  setup.form.key_dim = 3;
  setup.form.value_dim = 1;
  setup.form.project_query = false;
  change(setup.form);
  const MultiHeadAttention attention(3, 1, setup);
  set(attention, "key.weight", tensor({3, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}));
  set(attention, "value.weight", tensor({1, 4}, {0, 0, 0, 1}));
  set(attention, "output.weight", tensor({3, 1}, {1, 0, 0}));
  const Tensor x = keys().reshape({1, 6, 3}), both[] = {x, values()};
  return slice(attention(x, concat(both, -1), {}), -1, 0, 1);
}

double Sentence::book_reads(const Change& change) {
  const Tensor all = readings(change);
  return static_cast<double>(all.data()[5]);
}

}  // namespace heed::theorems
