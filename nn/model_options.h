// The options of a model: the section [model] of a config. The defaults make the encoder-decoder of
// Vaswani et al. 2017, with norms first.
#pragma once

#include <vector>

#include "nn/attention.h"
#include "nn/feed_forward.h"
#include "nn/norm.h"

namespace heed::inline HEED_REAL {

enum class Choice { automatic, yes, no };  // automatic: as another option implies
enum class Pool;                           // nn/classifier.h

// Properties of the data that a model depends on.
struct ModelSizes {
  int64_t source_vocabulary = 0;  // tokens of seq2seq's source
  int64_t vocabulary = 0;         // tokens of the input, and of the output
  int64_t classes = 0;            // outputs of a classifier or of a model of vectors; 1: a number
  // What the first or only stack reads, if it is not a sequence of tokens:
  int64_t features = 0;                   // F, width of the vector at each position; 0: tokens
  std::vector<int64_t> grid = {};         // lengths of the axes of a grid of positions
  int64_t edge_features = 0, global = 0;  // widths of the vectors of an edge, and of a whole graph
  // Whether it reads two streams: tokens of the source's vocabulary, and features.
  bool two_sources = false;
};

struct ModelOptions {
  ModelKind kind = ModelKind::seq2seq;
  // ---- layers
  int64_t dim = 64;              // D
  int64_t heads = 4;             // H
  int64_t feed_forward = 0;      // hidden width; 0: 4 · dim
  double dropout = 0;            // of embeddings, hidden activations and a sublayer's output
  double attention_dropout = 0;  // of attention weights
  FeedForwardActivation activation = Activation::relu;  // of the feed-forward network
  NormOptions norm = {};                                // LayerNorm, RMSNorm or none
  bool norm_first = true;                               // before a sublayer, not after
  Choice final_norm = Choice::automatic;  // a norm after the last layer; automatic: if norm_first
  bool bias = true;                       // of linear layers and LayerNorm
  InitOptions init = {};                  // initial weights
  PositionalOptions positional = {};      // at first sinusoidal
  MultiHeadAttentionOptions attention = {};  // its form; `causal`: no position reads a later one
  MixingOptions mixing = {};                 // attention, or what replaces it
  // ---- the model
  int64_t layers = 2;                          // of the encoder, or of the only stack
  int64_t decoder_layers = 0;                  // of the decoder; 0: as many as the encoder's
  int64_t encoder_dim = 0;                     // D of an encoder-decoder's encoder; 0: dim
  bool tie_weights = true;                     // the head's weight is that of the embedding
  bool share_embeddings = false;               // one embedding for source and target
  Choice scale_embedding = Choice::automatic;  // by √token_width() (Vaswani et al. 2017, section
                                               // 3.4); automatic: with sinusoidal positions
  Pool pool = {};                              // input of the classifier's head; at first the mean
  int64_t pool_queries = 1;                    // of learned queries
  // ---- of one stack: set by the next two functions
  int64_t memory_dim = 0;     // width of what a decoder attends to; 0: dim
  int64_t edge_features = 0;  // of a graph

  // These options for the layers of the encoder, and for those of the decoder or of a language
  // model, which are causal and read a sequence of tokens. Throw as check_ranges().
  ModelOptions encoder_stack(const ModelSizes& sizes = {}) const;
  ModelOptions decoder_stack() const;  // causal
  int64_t width() const {              // of what its layers return
    return attention.output_dim > 0 ? attention.output_dim : dim;
  }
  bool has_final_norm() const {  // a norm follows the last layer
    return norm.kind != NormKind::none &&
           (final_norm == Choice::automatic ? norm_first : final_norm == Choice::yes);
  }

  void fields(Fields& f);     // visits each, for a config
  void check_ranges() const;  // throws InputError for values out of range
  // Throw also, naming the key, for options that contradict each other.
  void validate_stack() const;  // in a stack
  void validate() const;        // in a model of this kind
};

}  // namespace heed::inline HEED_REAL
