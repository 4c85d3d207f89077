#include "nn/classifier.h"

#include <algorithm>

#include "core/parallel_for.h"

namespace heed::inline HEED_REAL {
namespace {

std::unique_ptr<LearnedQueries> learned_queries(const ModelOptions& o) {
  if (o.pool != Pool::learned) return nullptr;
  MultiHeadAttentionOptions attention = o.attention.across(0);
  attention.dropout = o.attention_dropout;
  attention.linear = {.bias = o.bias, .init = o.init};
  return std::make_unique<LearnedQueries>(o.pool_queries, o.dim, o.heads, attention);
}

}  // namespace

Classifier::Classifier(const ModelOptions& o, const ModelSizes& sizes)
    : embedding_(this, "embedding", o.encoder_stack(sizes), sizes.vocabulary, sizes.features),
      encoder_(this, "encoder", o.encoder_stack(sizes), o.layers),
      queries_(this, "pool", learned_queries(o)),
      head_(this, "head", o.dim * (queries_ ? o.pool_queries : 1), sizes.classes,
            LinearOptions{.bias = o.bias, .init = o.init}),
      pool_(o.pool) {}

namespace {

// The weight of each position, (B, 1, T): 1 / length of real ones for the mean, or 1 of the first.
Tensor pool_weights(const Ids& lengths, int64_t time, Pool pool) {
  Tensor weights = Tensor::zeros({lengths.size(), 1, time});
  real* to = weights.mutable_data();
  parallel_for(lengths.size(), chunk_rows(time), [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b) {
      const int64_t length = pool == Pool::first ? std::min(lengths[b], 1) : lengths[b];
      for (int64_t t = 0; t < length; ++t) to[b * time + t] = real{1} / static_cast<real>(length);
    }
  });
  return weights;
}

}  // namespace

Tensor Classifier::encode(const Inputs& in) const {
  return encoder_(embedding_(in.input, in.features),
                  SequenceContext{.mask = {.key_lengths = in.input_lengths}, .edges = &in.edges});
}

Tensor Classifier::head_input(const Inputs& in) const {
  const Tensor states = encode(in);
  return pooled(states, in.input_lengths);
}

Tensor Classifier::pooled(const Tensor& states, const Ids& lengths) const {
  const ModuleScope here(head_);
  const int64_t batch = states.dim(0), time = states.dim(1), dim = states.dim(2);
  if (queries_) {
    const Tensor read = (*queries_)(states, {.key_lengths = lengths});
    return read.reshape({batch, read.dim(1) * dim});
  }
  const Tensor weights = pool_weights(lengths, time, pool_);
  return matmul(weights, states).reshape({batch, dim});
}

}  // namespace heed::inline HEED_REAL
