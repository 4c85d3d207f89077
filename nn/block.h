// The layers of a Transformer: x = x + sublayer(norm(x)), twice. The first sublayer is attention,
// in which positions exchange information, the second a feed-forward network for each position.
//
// x is the residual stream, to which the sublayers s add:
//   pre-norm  (Xiong et al. 2020; norm_first):      x = x + dropout(s(norm(x)))
//   post-norm (Vaswani et al. 2017, section 3.1):   x = norm(x + dropout(s(x)))
//
// With attention.output_dim the first attention of a stack changes the width of the stream, and its
// skip connection is a matrix: W x + dropout(s(norm(x))).
#pragma once

#include <memory>
#include <vector>

#include "nn/model_options.h"

namespace heed::inline HEED_REAL {

// A sublayer's norm, dropout and addition to the residual stream.
struct Residual {
  Part<Norm> norm;                     // of x, or of the sum
  Part<std::unique_ptr<Linear>> skip;  // of x where the sublayer changes the width; or null
  bool norm_first;                     // pre-norm
  bool adds;                           // to x; otherwise the sublayer's output replaces x: a chain
  double dropout;                      // of what the sublayer adds

  template <class Sublayer>
  Tensor operator()(const Tensor& x, const Sublayer& sublayer) const;  // (B, T, D) → (B, T, V)
};

// The feed-forward network of a layer, with its residual connection. Clients do not need it.
struct FeedForwardSublayer {
  Residual residual;
  Part<FeedForward> network;
};

// Attention, or its replacement, and feed-forward. With `attention.causal` it is a layer of a
// decoder-only model: a decoder without an encoder to read is an encoder with a causal mask.
class EncoderLayer : public Module {
 public:
  static constexpr int64_t sublayers = 2;  // attention, feed-forward

  // `residual_depth`: the number of sublayers of the whole stack, for InitKind::gpt2. Throws
  // InputError for values out of range and for options that contradict each other.
  explicit EncoderLayer(const ModelOptions& options, int64_t residual_depth = sublayers);
  // x (B, T, D) → (B, T, D)
  Tensor operator()(const Tensor& x, const SequenceContext& sequence) const;
  bool can_cache() const { return mixing_->can_cache(); }  // it can continue from a past

 private:
  Residual mixing_residual_;
  Part<std::unique_ptr<Mixing>> mixing_;
  std::unique_ptr<FeedForwardSublayer> feed_forward_;  // or none
};

// Attention, attention to the encoder's output (the memory), feed-forward.
class DecoderLayer : public Module {
 public:
  static constexpr int64_t sublayers = 3;  // attention, cross-attention, feed-forward

  explicit DecoderLayer(const ModelOptions& options, int64_t residual_depth = sublayers);
  // x (B, T, D), memory (B, Tk, Dm) → (B, T, D); `memory_mask` is for the memory. With a past, the
  // memory is read at the first call only.
  Tensor operator()(const Tensor& x, const SequenceContext& sequence, const Tensor& memory,
                    const KeepMask& memory_mask) const;
  bool can_cache() const { return mixing_->can_cache(); }  // it can continue from a past

 private:
  Residual mixing_residual_;
  Part<std::unique_ptr<Mixing>> mixing_;
  Residual cross_attention_residual_;
  Part<std::unique_ptr<MultiHeadAttention>> cross_attention_;
  std::unique_ptr<FeedForwardSublayer> feed_forward_;  // or none
};

// Applies layers, then a norm if has_final_norm(). Arguments after x are those of the layers.
template <class Layer>
class Stack : public Module {
 public:
  Stack(const ModelOptions& options, int64_t layers);
  // x (B, T, D) → (B, T, D)
  template <class... Arguments>
  Tensor operator()(Tensor x, const Arguments&... arguments) const {
    for (const auto& layer : layers_) x = (*layer)(x, arguments...);
    return after_layers(x);
  }
  // The last step: the norm of what the last layer returns, if there is one.
  Tensor after_layers(const Tensor& x) const { return norm_ ? (*norm_)(x) : x; }
  bool can_cache() const { return layers_.empty() || layers_[0]->can_cache(); }  // all are alike

 private:
  std::vector<Part<std::unique_ptr<Layer>>> layers_;
  Part<std::unique_ptr<Norm>> norm_;
};

using Encoder = Stack<EncoderLayer>;  // or a decoder without an encoder to read
using Decoder = Stack<DecoderLayer>;  // of an encoder-decoder

}  // namespace heed::inline HEED_REAL
