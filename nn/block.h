// The layers of a Transformer and their stacks.
//
// Each layer is a residual stream x to which its sublayers s (attention or its replacement,
// feed-forward) add:
//   post-norm (Vaswani et al. 2017, section 3.1):   x = norm(x + dropout(s(x)))
//   pre-norm  (Xiong et al. 2020; norm_first):      x = x + dropout(s(norm(x)))
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "nn/feed_forward.h"
#include "nn/forms/attention.h"
#include "nn/forms/mixings.h"
#include "nn/norm.h"

namespace heed::inline HEED_REAL {

enum class Choice { automatic, yes, no };

// The options of one stack of layers.
struct BlockOptions {
  int64_t dim = 64;  // D
  int64_t heads = 4;
  int64_t feed_forward = 0;      // hidden width; 0: 4 · dim
  double dropout = 0;            // of a sublayer's output, and inside the feed-forward network
  double attention_dropout = 0;  // of attention weights
  FeedForwardActivation activation = Activation::relu;
  NormOptions norm = {};
  bool norm_first = true;
  Choice final_norm = Choice::automatic;  // a norm after the last layer; automatic: if norm_first
  bool bias = true;                       // of linear layers and LayerNorm
  MixingOptions mixing = {};
  MultiHeadOptions attention = {};  // its `causal`: no position reads a later one
  PositionalOptions positional = {};
  InitOptions init = {};
  // Properties of the data, set by the model:
  std::vector<int64_t> grid = {};  // lengths of its axes, if the positions form one
  int64_t edge_features = 0;       // of a graph
  int64_t memory_dim = 0;          // width of what a decoder attends to; 0: dim

  void fields(Fields& f);
  // The two parts of fields(): a model has a field of its own between them.
  void width_field(Fields& f);
  void layer_fields(Fields& f);
  bool has_final_norm() const {
    return final_norm == Choice::automatic ? norm_first : final_norm == Choice::yes;
  }
  // Throws InputError for values out of range and, naming the key, for options that contradict each
  // other.
  void validate_layer() const;
};

// A sublayer's norm, dropout and addition to the residual stream.
struct Residual {
  Norm norm;
  bool norm_first;
  double dropout;

  explicit Residual(const BlockOptions& options);
  template <class Sublayer>
  Tensor operator()(const Tensor& x, const Sublayer& sublayer) const;
};

// Mixing and feed-forward. With attention.causal it is a layer of a decoder-only model.
class EncoderLayer : public Module {
 public:
  static constexpr int64_t sublayers = 2;

  // `residual_depth`: the number of sublayers of the whole stack, for InitKind::gpt2. Throws
  // InputError as BlockOptions::validate_layer() does.
  explicit EncoderLayer(const BlockOptions& options, int64_t residual_depth = sublayers);
  // x (B, T, D) → (B, T, D)
  Tensor operator()(const Tensor& x, const SequenceContext& sequence) const;
  bool can_cache() const { return mixing_->can_cache(); }

 private:
  Residual mixing_residual_;
  std::unique_ptr<Mixing> mixing_;
  Residual feed_forward_residual_;
  FeedForward feed_forward_;
};

// Mixing, attention to the encoder's output, feed-forward.
class DecoderLayer : public Module {
 public:
  static constexpr int64_t sublayers = 3;

  explicit DecoderLayer(const BlockOptions& options, int64_t residual_depth = sublayers);
  // x (B, T, D), memory (B, Tk, Dm) → (B, T, D); `memory_mask` is for the memory. With a past, the
  // memory is read at the first call only.
  Tensor operator()(const Tensor& x, const SequenceContext& sequence, const Tensor& memory,
                    const KeepMask& memory_mask) const;
  bool can_cache() const { return mixing_->can_cache(); }

 private:
  Residual mixing_residual_;
  std::unique_ptr<Mixing> mixing_;
  Residual cross_attention_residual_;
  std::unique_ptr<Attention> cross_attention_;
  Residual feed_forward_residual_;
  FeedForward feed_forward_;
};

// Layers, then a norm if has_final_norm(). Arguments after x are those of the layers.
template <class Layer>
class Stack : public Module {
 public:
  Stack(const BlockOptions& options, int64_t layers);
  // x (B, T, D) → (B, T, D)
  template <class... Arguments>
  Tensor operator()(Tensor x, const Arguments&... arguments) const {
    for (const auto& layer : layers_) x = (*layer)(x, arguments...);
    return norm_ ? (*norm_)(x) : x;
  }
  // Returns whether all layers can continue from a cache.
  bool can_cache() const {
    return std::all_of(layers_.begin(), layers_.end(),
                       [](const auto& layer) { return layer->can_cache(); });
  }

 private:
  std::vector<std::unique_ptr<Layer>> layers_;
  std::unique_ptr<Norm> norm_;
};

using Encoder = Stack<EncoderLayer>;
using Decoder = Stack<DecoderLayer>;

}  // namespace heed::inline HEED_REAL
