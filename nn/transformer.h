// Tokens to vectors, through a stack of blocks, to a score for every token of the vocabulary: the
// encoder-decoder and the decoder-only model.
#pragma once

#include <memory>

#include "core/inputs.h"
#include "core/standard_ops.h"
#include "nn/block.h"
#include "nn/embedding.h"
#include "nn/linear.h"

namespace heed::inline HEED_REAL {

class Model : public Module {
 public:
  // (B, T, vocab), where row t predicts token t + 1; of a classifier (B, C), for C classes.
  Tensor logits(const Inputs& inputs) const;
  // cross_entropy(logits(inputs), targets, reduction, smoothing), by linear_cross_entropy().
  Tensor loss(const Inputs& inputs, const Ids& targets, Reduction reduction = Reduction::mean,
              const LabelSmoothing& smoothing = {}) const;

  virtual ModelKind kind() const = 0;      // one of three
  virtual const Linear& head() const = 0;  // the last layer, which computes the logits
  virtual Tensor head_input(const Inputs& inputs) const = 0;  // (B, T, D); classifier: (B, …)
  // The same from what the last layer of the last stack returns, x (B, T, D). `lengths` (B).
  virtual Tensor head_input(const Tensor& x, const Ids& lengths) const = 0;

  // The hidden states of the encoder, which are the memory of a decoder: (B, Ts, De); of a language
  // model those of its only stack: (B, T, D).
  virtual Tensor encode(const Inputs& inputs) const = 0;
  // The hidden states (B, T, D) from which the head predicts the next tokens. A language model has
  // no memory. With a past, which needs can_cache(), `input` continues the tokens read so far, and
  // the memory is read at the first call only. Throws Error for a classifier.
  virtual Tensor decode(const Ids& input, const Tensor& memory, const Ids& source_lengths,
                        Past* past = nullptr) const;
  // Returns whether decode() can continue from a cache: attention can; a convolution and a
  // recurrent network read all tokens again.
  virtual bool can_cache() const { return false; }
};

// Returns the factor of token embeddings before a stack of these options: see scale_embedding.
real embedding_scale(const ModelOptions& options);

// Makes the input of a stack: embeds tokens, or projects features, to width D, adds positions, and
// applies dropout.
class InputEmbedding : public Module {
 public:
  // Of the options of a stack. Reads features of width F if it is not 0, else tokens.
  InputEmbedding(const ModelOptions& options, int64_t vocabulary, int64_t features = 0);
  // ids (B, T), or features x (B, T, F), from position `first` on, or at `at` (B, T) → (B, T, D)
  Tensor operator()(const Ids& ids, const Tensor& x, int64_t first = 0, const Ids& at = {}) const;
  const Tensor& weight() const { return token_->weight; }  // (vocab, D)

 private:
  Part<std::unique_ptr<Embedding>> token_;
  Part<std::unique_ptr<Linear>> projection_;  // of features
  Part<std::unique_ptr<Positions>> position_;
  real scale_;
  double dropout_;
};

// Encoder-decoder (Vaswani et al. 2017).
class Seq2Seq : public Model {
 public:
  Seq2Seq(const ModelOptions& options, const ModelSizes& sizes);
  ModelKind kind() const override { return ModelKind::seq2seq; }
  const Linear& head() const override { return *head_; }
  Tensor head_input(const Inputs& inputs) const override;
  Tensor head_input(const Tensor& x, const Ids&) const override { return decoder_.after_layers(x); }
  Tensor encode(const Inputs& inputs) const override;
  Tensor decode(const Ids& input, const Tensor& memory, const Ids& source_lengths,
                Past* past = nullptr) const override;
  bool can_cache() const override { return decoder_.can_cache(); }

 private:
  Part<std::unique_ptr<InputEmbedding>> source_embedding_;  // null if it is shared
  Part<InputEmbedding> embedding_;
  Part<Encoder> encoder_;
  Part<Decoder> decoder_;
  Part<std::unique_ptr<Linear>> head_;
};

// Decoder-only (Radford et al. 2018): a stack of causal self-attention layers.
class LanguageModel : public Model {
 public:
  LanguageModel(const ModelOptions& options, const ModelSizes& sizes);
  // (B, T) → hidden states (B, T, D). With a past, `input` continues the tokens read so far.
  Tensor hidden(const Ids& input, Past* past = nullptr, const Ids& at = {}) const;
  ModelKind kind() const override { return ModelKind::language_model; }
  const Linear& head() const override { return *head_; }
  Tensor head_input(const Inputs& inputs) const override { return encode(inputs); }
  Tensor head_input(const Tensor& x, const Ids&) const override { return decoder_.after_layers(x); }
  // Padding is at the end: the causal mask hides it from the positions before it, and the loss
  // ignores its own targets. So the lengths of the inputs are not needed.
  Tensor encode(const Inputs& in) const override { return hidden(in.input, {}, in.positions); }
  Tensor decode(const Ids& input, const Tensor&, const Ids&, Past* past = nullptr) const override {
    return hidden(input, past);
  }
  bool can_cache() const override { return decoder_.can_cache(); }

 private:
  Part<InputEmbedding> embedding_;
  Part<Encoder> decoder_;  // causal: a decoder without an encoder to read
  Part<std::unique_ptr<Linear>> head_;
};

}  // namespace heed::inline HEED_REAL
