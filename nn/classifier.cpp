#include "nn/classifier.h"

#include <algorithm>
#include <cmath>

#include "core/more_ops.h"
#include "core/parallel_for.h"
#include "nn/forms/mixings.h"

namespace heed::inline HEED_REAL {
namespace {

bool is_causal(const ModelOptions& o) { return o.kind == ModelKind::language_model; }

// The options of the only stack.
ModelOptions own_stack(const ModelOptions& o, const ModelSizes& sizes) {
  return is_causal(o) ? o.decoder_stack() : o.encoder_stack(sizes);
}

// The options of the encoder of the source, which has no grid.
ModelOptions source_stack(const ModelOptions& o) {
  ModelOptions stack = o.encoder_stack();
  stack.attention.axes.clear();
  return stack;
}

int64_t global_width(const ModelOptions& o) {
  return o.mixing.kind == &mixings::graph_attention ? o.mixing.global : 0;
}

std::unique_ptr<Linear> linear_if(int64_t inputs, int64_t outputs, LinearOptions options) {
  return inputs * outputs > 0 ? std::make_unique<Linear>(inputs, outputs, options) : nullptr;
}

template <class Stack>
std::unique_ptr<Stack> stack_if(bool exists, const ModelOptions& o, int64_t layers) {
  return exists ? std::make_unique<Stack>(o, layers) : nullptr;
}

std::unique_ptr<LearnedQueries> learned_queries(const ModelOptions& o) {
  if (!has_queries(o.pool) || is_causal(o)) return nullptr;
  MultiHeadAttentionOptions attention = o.attention.across(0);
  attention.dropout = o.attention_dropout;
  attention.linear = {.bias = o.bias, .init = o.init};
  return std::make_unique<LearnedQueries>(o.pool_queries, o.width(), o.heads, attention);
}

}  // namespace

Classifier::Classifier(const ModelOptions& o, const ModelSizes& sizes)
    : embedding_(this, "embedding", own_stack(o, sizes), sizes.vocabulary, sizes.features),
      encoder_(this, is_causal(o) ? "decoder" : "encoder",
               stack_if<Encoder>(!sizes.two_sources, own_stack(o, sizes), o.layers)),
      source_embedding_(this, "source_embedding",
                        sizes.two_sources ? std::make_unique<InputEmbedding>(
                                                source_stack(o), sizes.source_vocabulary)
                                          : nullptr),
      source_encoder_(this, "encoder",
                      stack_if<Encoder>(sizes.two_sources, source_stack(o), o.layers)),
      reader_(this, "decoder", stack_if<Decoder>(sizes.two_sources, own_stack(o, sizes), o.layers)),
      global_(this, "global",
              linear_if(sizes.global, global_width(o), {.bias = o.bias, .init = o.init})),
      global_state_(this, "global_state",
                    linear_if(global_width(o), o.width(), {.bias = false, .init = o.init})),
      queries_(this, "pool", learned_queries(o)),
      head_(this, "head", o.width() * (o.pool == Pool::learned && queries_ ? o.pool_queries : 1),
            sizes.classes, LinearOptions{.bias = o.bias, .init = o.init}),
      kind_(o.kind),
      pool_(is_causal(o) ? Pool::none : o.pool) {}

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

Tensor Classifier::first_global(const Inputs& in) const {
  if (!global_state_) return {};
  if (!global_) return Tensor::zeros({in.input_lengths.size(), global_state_->weight.dim(1)});
  check(static_cast<bool>(in.global), "classifier: this model reads a vector of each graph");
  return (*global_)(in.global);
}

Tensor Classifier::encode(const Inputs& in) const {
  const Tensor x = embedding_(in.input, in.features, 0, in.positions);
  Tensor u = first_global(in);
  const SequenceContext own{
      .mask = {.key_lengths = in.input_lengths}, .edges = &in.edges, .global = &u};
  if (encoder_) {
    const Tensor states = (*encoder_)(x, own);
    if (!global_state_) return states;
    return states + (*global_state_)(u).reshape({x.dim(0), 1, states.dim(2)});
  }
  const KeepMask of_source{.key_lengths = in.source_lengths};
  const Tensor memory =
      (*source_encoder_)((*source_embedding_)(in.source, {}), SequenceContext{.mask = of_source});
  return (*reader_)(x, own, memory, of_source);
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
    return pool_ == Pool::queries ? read : read.reshape({batch, read.dim(1) * dim});
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
