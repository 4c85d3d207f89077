// Tokens to vectors, through a stack of blocks, to a score for every token of the vocabulary: the
// encoder-decoder and the decoder-only model.
#pragma once

#include <memory>

#include "core/ids.h"
#include "core/standard_ops.h"
#include "nn/block.h"
#include "nn/embedding.h"
#include "nn/linear.h"

namespace heed::inline HEED_REAL {

// Properties of the data that a model depends on.
struct ModelSizes {
  int64_t source_vocabulary = 0;  // tokens of seq2seq's source
  int64_t vocabulary = 0;         // tokens of the input, and of the output
  int64_t classes = 0;            // of a classifier
  // What seq2seq's encoder or the classifier reads, if it is not a sequence of tokens:
  int64_t features = 0;            // F, width of the vector at each position; 0: tokens
  std::vector<int64_t> grid = {};  // lengths of the axes of a grid of positions
  int64_t edge_features = 0;       // width of the vector at each edge of a graph
};

// The sizes of a model, and the options of its layers.
struct ModelShape : BlockOptions {
  int64_t layers = 2;                          // of the encoder, or of the only stack
  int64_t decoder_layers = 0;                  // of the decoder; 0: as many as the encoder's
  int64_t encoder_dim = 0;                     // D of an encoder-decoder's encoder; 0: dim
  bool tie_weights = true;                     // the head's weight is that of the embedding
  bool share_embeddings = false;               // one embedding for source and target
  Choice scale_embedding = Choice::automatic;  // by √dim (Vaswani et al. 2017, section 3.4);
                                               // automatic: with sinusoidal positions

  virtual ~ModelShape() = default;
  // Throws InputError for values out of range.
  virtual void check_ranges() const = 0;
  // What its layers are made of, for data of these sizes.
  virtual std::unique_ptr<Parts> parts(const ModelSizes& sizes) const = 0;
  BlockOptions encoder_block() const;  // of the encoder's layers
  BlockOptions decoder_block() const;  // of those of the decoder, or of a language model
};

// The options of a model that is a Transformer throughout.
struct TransformerOptions : ModelShape {
  Parts::Kind positions = Parts::Kind::sinusoidal;
  int64_t max_length = 512;  // of learned positions

  void fields(Fields& f);  // visits each, for a config
  void check_ranges() const override;
  std::unique_ptr<Parts> parts(const ModelSizes&) const override {
    return std::make_unique<Parts>(positions, max_length);
  }
};

// A batch for a model. Padding is a length: input_lengths[b] of the T positions of row b are real.
struct Inputs {
  Ids source = {}, source_lengths = {};     // (B, Ts), (B): of seq2seq
  Ids input = {}, input_lengths = {};       // (B, T), (B)
  Tensor features = {};                     // (B, T, F), instead of source or a classifier's input
  std::shared_ptr<const Edges> edges = {};  // between positions: nn/graph.h
};

class Model : public Module {
 public:
  // (B, T, V), where row t predicts token t + 1; of a classifier (B, C), for C classes.
  Tensor logits(const Inputs& inputs) const;
  // cross_entropy(logits(inputs), targets, reduction, smoothing), by linear_cross_entropy().
  Tensor loss(const Inputs& inputs, const Ids& targets, Reduction reduction = Reduction::mean,
              const LabelSmoothing& smoothing = {}) const;

  virtual const Linear& head() const = 0;  // the last layer, which computes the logits
  virtual Tensor head_input(const Inputs& inputs) const = 0;  // (B, T, D); classifier: (B, …)
};

// Returns the factor of token embeddings in a model of width `dim`: see scale_embedding.
real embedding_scale(const ModelShape& options, const Parts& parts, int64_t dim);

// Makes the input of a stack: embeds tokens, or projects features, to width D, adds positions, and
// applies dropout.
class InputEmbedding : public Module {
 public:
  // Reads features if `sizes` has some, otherwise tokens of `vocabulary`. D is `dim`.
  InputEmbedding(const ModelShape& options, const Parts& parts, int64_t dim, int64_t vocabulary,
                 const ModelSizes& sizes = {});
  // ids (B, T), or features (B, T, F), from position `first` on → (B, T, D)
  Tensor operator()(const Ids& ids, const Tensor& features = {}, int64_t first = 0) const;
  const Tensor& weight() const { return token_->weight; }  // (V, D)

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
  Seq2Seq(const ModelShape& options, const ModelSizes& sizes);
  Tensor encode(const Inputs& inputs) const;  // the memory (B, Ts, De) of the sources
  // Computes the hidden states (B, T, D). With a past, `input` continues the tokens read so far,
  // and the memory is read at the first call only.
  Tensor decode(const Ids& input, const Tensor& memory, const Ids& source_lengths,
                Past* past = nullptr) const;
  bool can_cache() const { return decoder_.can_cache(); }  // decode() can take a past
  const Linear& head() const override { return *head_; }
  Tensor head_input(const Inputs& inputs) const override;

 private:
  std::unique_ptr<Parts> parts_;
  Part<std::unique_ptr<InputEmbedding>> source_embedding_;  // null if it is shared
  Part<InputEmbedding> embedding_;
  Part<Encoder> encoder_;
  Part<Decoder> decoder_;
  Part<std::unique_ptr<Linear>> head_;
};

// Decoder-only (Radford et al. 2018): a stack of causal self-attention layers.
class LanguageModel : public Model {
 public:
  LanguageModel(const ModelShape& options, const ModelSizes& sizes);
  // (B, T) → hidden states (B, T, D). With a past, `input` continues the tokens read so far.
  Tensor hidden(const Ids& input, Past* past = nullptr) const;
  // Returns whether its layers can continue from a cache: attention can; a convolution and a
  // recurrent network read all tokens again.
  bool can_cache() const { return decoder_.can_cache(); }
  const Linear& head() const override { return *head_; }
  Tensor head_input(const Inputs& inputs) const override;

 private:
  std::unique_ptr<Parts> parts_;
  Part<InputEmbedding> embedding_;
  Part<Encoder> decoder_;  // causal: a decoder without an encoder to read
  Part<std::unique_ptr<Linear>> head_;
};

}  // namespace heed::inline HEED_REAL
