// A classifier: an encoder, and a head on its pooled hidden states.
#pragma once

#include "nn/learned_queries.h"
#include "nn/transformer.h"

namespace heed::inline HEED_REAL {

// What the head of a classifier reads: the mean of the hidden states, the first one, or the outputs
// of learned queries (nn/learned_queries.h).
enum class Pool { mean, first, learned };

// Pools the mean of the hidden states, the first, or the concatenated outputs of learned queries.
class Classifier : public Model {
 public:
  Classifier(const ModelOptions& options, const ModelSizes& sizes);
  ModelKind kind() const override { return ModelKind::classifier; }
  const Linear& head() const override { return head_; }
  Tensor head_input(const Inputs& inputs) const override;
  Tensor head_input(const Tensor& x, const Ids& lengths) const override {
    return pooled(encoder_.after_layers(x), lengths);
  }
  Tensor encode(const Inputs& inputs) const override;  // before pooling

 private:
  // Hidden states and lengths (B) → what the head reads (B, …).
  Tensor pooled(const Tensor& states, const Ids& lengths) const;

  Part<InputEmbedding> embedding_;
  Part<Encoder> encoder_;
  Part<std::unique_ptr<LearnedQueries>> queries_;
  Part<Linear> head_;
  Pool pool_;
};

}  // namespace heed::inline HEED_REAL
