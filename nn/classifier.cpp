#include "nn/classifier.h"

#include <algorithm>
#include <cmath>

#include "core/more_ops.h"
#include "core/parallel_for.h"

namespace heed::inline HEED_REAL {
namespace {

bool is_causal(const ModelOptions& o) { return o.kind == ModelKind::language_model; }

// The options of the only stack.
ModelOptions own_stack(const ModelOptions& o, const ModelSizes& sizes) {
  return is_causal(o) ? o.decoder_stack() : o.encoder_stack(sizes);
}

std::unique_ptr<LearnedQueries> learned_queries(const ModelOptions& o) {
  if (o.pool != Pool::learned || is_causal(o)) return nullptr;
  MultiHeadAttentionOptions attention = o.attention.across(0);
  attention.dropout = o.attention_dropout;
  attention.linear = {.bias = o.bias, .init = o.init};
  return std::make_unique<LearnedQueries>(o.pool_queries, o.width(), o.heads, attention);
}

}  // namespace

Classifier::Classifier(const ModelOptions& o, const ModelSizes& sizes)
    : embedding_(this, "embedding", own_stack(o, sizes), sizes.vocabulary, sizes.features),
      encoder_(this, is_causal(o) ? "decoder" : "encoder", own_stack(o, sizes), o.layers),
      queries_(this, "pool", learned_queries(o)),
      head_(this, "head", o.width() * (queries_ ? o.pool_queries : 1), sizes.classes,
            LinearOptions{.bias = o.bias, .init = o.init}),
      kind_(o.kind),
      pool_(is_causal(o) ? Pool::none : o.pool) {}

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
  return encoder_(embedding_(in.input, in.features, 0, in.positions),
                  SequenceContext{.mask = {.key_lengths = in.input_lengths}, .edges = &in.edges});
}

Tensor Classifier::head_input(const Inputs& in) const {
  const Tensor states = encode(in);
  return pooled(states, in.input_lengths);
}

Tensor Classifier::pooled(const Tensor& states, const Ids& lengths) const {
  if (pool_ == Pool::none) return states;
  const ModuleScope here(head_);
  const int64_t batch = states.dim(0), time = states.dim(1), dim = states.dim(2);
  if (queries_) {
    const Tensor read = (*queries_)(states, {.key_lengths = lengths});
    return read.reshape({batch, read.dim(1) * dim});
  }
  const Tensor weights = pool_weights(lengths, time, pool_);
  return matmul(weights, states).reshape({batch, dim});
}

Tensor squared_error(const Tensor& outputs, const Tensor& targets, Reduction reduction) {
  const Shape& shape = targets.shape();
  check(outputs.dim(-1) == 1 && outputs.shape().without(-1) == shape,
        "squared_error: outputs {} must have the shape of the targets {} and an axis of length 1",
        outputs.shape(), shape);
  Ids none = Ids::empty(shape);
  Tensor y = Tensor::empty(shape);
  int64_t count = 0;
  for (int64_t i = 0; i < targets.size() && !scope().shapes_only; ++i) {
    const bool is_none = std::isnan(targets.data()[i]);
    none.mutable_data()[i] = is_none;
    y.mutable_data()[i] = is_none ? 0 : targets.data()[i];
    count += !is_none;
  }
  const Tensor x = masked_fill(outputs.reshape(shape), none, 0);
  if (reduction != Reduction::mean) return mse_loss(x, y, reduction);
  return mse_loss(x, y, Reduction::sum) *
         (real{1} / static_cast<real>(std::max<int64_t>(1, count)));
}

}  // namespace heed::inline HEED_REAL
