// A classifier: an encoder, and a head on its pooled hidden states, or on each of them.
#pragma once

#include "nn/learned_queries.h"
#include "nn/transformer.h"

namespace heed::inline HEED_REAL {

// What the head of a classifier reads: the mean of the hidden states, the first one, the
// concatenated outputs of N learned queries (nn/learned_queries.h), each of these: then the logits
// are (B, N, C), or every hidden state: (B, T, C).
enum class Pool { mean, first, learned, queries, none };
// Returns whether learned queries read the hidden states.
inline bool has_queries(Pool pool) { return pool == Pool::learned || pool == Pool::queries; }
// Returns whether there is a target for each position, or for each learned query.
inline bool has_many_targets(Pool pool) { return pool == Pool::none || pool == Pool::queries; }

// With two sources it reads features, as a classifier does, and its layers also attend to the
// states of an encoder of the source's tokens (Bahdanau et al. 2015; here no position is masked).
//
// With kind = language_model it is a decoder-only model that does not predict the tokens that it
// reads: it reads vectors, or its outputs are numbers. Its stack is causal, and it has no pool.
// Of a graph with a global vector u (nn/forms/graph_attention.h) every hidden state gets W u.
class Classifier : public Model {
 public:
  Classifier(const ModelOptions& options, const ModelSizes& sizes);
  ModelKind kind() const override { return kind_; }
  const Linear& head() const override { return head_; }
  Tensor head_input(const Inputs& inputs) const override;
  Tensor head_input(const Tensor& x, const Ids& lengths) const override {
    return pooled(encoder_ ? encoder_->after_layers(x) : reader_->after_layers(x), lengths);
  }
  Tensor encode(const Inputs& inputs) const override;  // before pooling

 private:
  Tensor first_global(const Inputs& inputs) const;  // (B, G), what the first layer reads
  // Hidden states and lengths (B) → what the head reads (B, …), or (B, T, D) without a pool.
  Tensor pooled(const Tensor& states, const Ids& lengths) const;

  Part<InputEmbedding> embedding_;
  Part<std::unique_ptr<Encoder>> encoder_;  // of the only stream
  Part<std::unique_ptr<InputEmbedding>> source_embedding_;
  Part<std::unique_ptr<Encoder>> source_encoder_;
  Part<std::unique_ptr<Decoder>> reader_;  // of the features, with attention to the source
  Part<std::unique_ptr<Linear>> global_, global_state_;  // U → G, G → D; of a graph, or null
  Part<std::unique_ptr<LearnedQueries>> queries_;
  Part<Linear> head_;
  ModelKind kind_;
  Pool pool_;
};

// The weight of each position, (B, 1, T): 1 / length of real ones for the mean, or 1 of the first.
Tensor pool_weights(const Ids& lengths, int64_t time, Pool pool);

// Returns whether a language model of these sizes does: it reads vectors, or predicts a number.
inline bool has_own_head(const ModelSizes& sizes) {
  return sizes.features > 0 || sizes.classes == 1;
}

// (ŷ - y)² of each target y that is not NaN, reduced: the sum, the mean over them, or one for each
// target, 0 for NaN. outputs (…, 1) are ŷ, targets (…).
Tensor squared_error(const Tensor& outputs, const Tensor& targets,
                     Reduction reduction = Reduction::mean);

}  // namespace heed::inline HEED_REAL
