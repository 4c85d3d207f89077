// The three models: encoder-decoder, decoder-only, and encoder with a pooled head.
#pragma once

#include <memory>

#include "core/ids.h"
#include "core/label_smoothing.h"
#include "nn/block.h"
#include "nn/embedding.h"
#include "nn/linear.h"
#include "nn/positional.h"

namespace heed::inline HEED_REAL {

enum class ModelKind { seq2seq, language_model, classifier };
enum class Choice { automatic, yes, no };
enum class Pool { mean, first, learned };

struct ModelOptions {
  ModelKind kind = ModelKind::seq2seq;
  int64_t layers = 2;          // of the encoder, or of the only stack
  int64_t decoder_layers = 0;  // of the decoder; 0: as many as the encoder's
  int64_t dim = 64;
  int64_t encoder_dim = 0;  // of seq2seq's encoder; 0: dim
  int64_t heads = 4;
  int64_t feed_forward = 0;  // hidden width; 0: 4 · dim
  FeedForwardActivation activation = Activation::relu;
  double dropout = 0;
  double attention_dropout = 0;
  NormKind norm = NormKind::layer;
  double norm_epsilon = 1e-5;
  bool norm_first = true;
  Choice final_norm = Choice::automatic;       // yes with norm_first, else no
  bool bias = true;                            // of linear layers and LayerNorm
  bool tie_weights = true;                     // logits by the embedding of the target's tokens
  bool share_embeddings = false;               // one embedding for source and target
  Choice scale_embedding = Choice::automatic;  // by √dim (Vaswani et al. 2017, section 3.4);
                                               // yes with sinusoidal positions
  Pool pool = Pool::mean;                      // of the classifier
  int64_t pool_queries = 1;                    // with Pool::learned
  PositionalOptions positional;
  MultiHeadOptions attention;
  MixingOptions block;
  InitOptions init;

  void fields(Fields& f);
  // Throws InputError, naming the key, for what contradicts itself.
  void validate() const;
};

// What the data decides.
struct ModelSizes {
  int64_t source_vocabulary = 0;  // seq2seq alone
  int64_t vocabulary = 0;         // of what is read, and of what is written
  int64_t classes = 0;            // classifier alone
  // What seq2seq's encoder or the classifier reads, where it is not tokens in a row:
  int64_t features = 0;            // F, of a vector at each place; 0: tokens
  std::vector<int64_t> grid = {};  // lengths of its axes, whose cells are the places
  int64_t edge_features = 0;       // of a graph: numbers that are known of an edge
};

// What a model reads. Padding is a length: input_lengths[b] of the T places of row b are real.
struct Inputs {
  Ids source, source_lengths;  // (B, Ts), (B): seq2seq alone
  Ids input, input_lengths;    // (B, T), (B)
  Tensor features = {};        // (B, T, F), in the place of source or of a classifier's input
  Edges edges = {};
};

class Model : public Module {
 public:
  // seq2seq, language_model: (B, T, V), row t of which foretells token t + 1; classifier: (B, C).
  Tensor logits(const Inputs& inputs) const;
  // cross_entropy(logits(inputs), targets, smoothing), without holding the logits.
  Tensor loss(const Inputs& inputs, const Ids& targets, const LabelSmoothing& smoothing = {}) const;

  // The last layer, to logits, and what it reads of the inputs: (B, T, D); classifier: (B, …).
  virtual const Linear& head() const = 0;
  virtual Tensor head_input(const Inputs& inputs) const = 0;
};

// What a place holds, a token or a vector, as a vector of width D with its position, under dropout:
// where every stack begins. A token's embedding is scaled if asked for; features are projected.
class InputEmbedding : public Module {
 public:
  // `sizes` says whether tokens are read; of so many, `vocabulary`. The width is that of `dim`.
  InputEmbedding(const ModelOptions& options, int64_t dim, int64_t vocabulary,
                 const ModelSizes& sizes = {});
  // ids (B, T), or features (B, T, F), from place `first` on → (B, T, D)
  Tensor operator()(const Ids& ids, const Tensor& features = {}, int64_t first = 0) const;
  const Tensor& weight() const { return token_->weight; }  // (V, D)

 private:
  std::unique_ptr<Embedding> token_;
  std::unique_ptr<Linear> projection_;  // of features
  PositionalEncoding position_;
  real scale_;
  double dropout_;
};

// Encoder-decoder (Vaswani et al. 2017).
class Seq2Seq : public Model {
 public:
  Seq2Seq(const ModelOptions& options, const ModelSizes& sizes);
  // The two halves: memory (B, Ts, De) of a source, then hidden states (B, T, D) for the head. With
  // a cache, `input` follows the tokens it has read, and the memory is read at the first call
  // alone.
  Tensor encode(const Inputs& inputs) const;
  Tensor decode(const Ids& input, const Tensor& memory, const Ids& source_lengths,
                KeyValueCache* cache = nullptr) const;
  bool can_cache() const { return decoder_.can_cache(); }
  const Linear& head() const override { return head_; }
  Tensor head_input(const Inputs& inputs) const override;

 private:
  std::unique_ptr<InputEmbedding> source_embedding_;  // none where it is shared
  InputEmbedding embedding_;
  Encoder encoder_;
  Decoder decoder_;
  Linear head_;
  KeepMask encoder_mask_, decoder_mask_;
};

// Decoder-only (Radford et al. 2018): a stack of self-attention layers with a causal mask.
class LanguageModel : public Model {
 public:
  LanguageModel(const ModelOptions& options, const ModelSizes& sizes);
  // (B, T) → (B, T, D). With a cache, `input` follows the tokens it has read.
  Tensor hidden(const Ids& input, KeyValueCache* cache = nullptr) const;
  // Whether its layers can go on from a cache: attention does, a convolution and a recurrent
  // network are given all tokens again.
  bool can_cache() const { return decoder_.can_cache(); }
  const Linear& head() const override { return head_; }
  Tensor head_input(const Inputs& inputs) const override;

 private:
  InputEmbedding embedding_;
  Encoder decoder_;
  Linear head_;
  KeepMask mask_;
};

// An encoder whose states are pooled: their mean, the first, or what learned queries read from
// them, side by side.
class Classifier : public Model {
 public:
  Classifier(const ModelOptions& options, const ModelSizes& sizes);
  Tensor encode(const Inputs& inputs) const;  // the states (B, T, D) that are pooled
  const Linear& head() const override { return head_; }
  Tensor head_input(const Inputs& inputs) const override;

 private:
  InputEmbedding embedding_;
  Encoder encoder_;
  std::unique_ptr<LearnedQueries> queries_;
  Linear head_;
  Pool pool_;
  KeepMask mask_;
};

// Initial weights are drawn from the random streams of the scope: set scope().seed first.
std::unique_ptr<Model> make_model(const ModelOptions& options, const ModelSizes& sizes);

}  // namespace heed::inline HEED_REAL
