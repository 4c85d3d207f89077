// The layers of a Transformer: x = x + sublayer(norm(x)), twice. The first sublayer is attention,
// in which positions exchange information, the second a feed-forward network for each position.
//
// x is the residual stream, to which the sublayers s add:
//   pre-norm  (Xiong et al. 2020; norm_first):      x = x + dropout(s(norm(x)))
//   post-norm (Vaswani et al. 2017, section 3.1):   x = norm(x + dropout(s(x)))
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "nn/attention.h"
#include "nn/feed_forward.h"
#include "nn/norm.h"
#include "nn/positions.h"

namespace heed::inline HEED_REAL {

struct BlockOptions;
class Parts;
extern const Parts transformer_parts;  // multi-head attention, and no positions

// A sublayer's norm, dropout and addition to the residual stream.
struct Residual {
  Part<Norm> norm;  // of x, or of the sum
  bool norm_first;  // pre-norm
  double dropout;   // of what the sublayer adds

  Residual(Module* layer, std::string norm_name, const BlockOptions& options);
  template <class Sublayer>
  Tensor operator()(const Tensor& x, const Sublayer& sublayer) const;  // (B, T, D) → (B, T, D)
};

// Attention, or its replacement, and feed-forward. With `causal` it is a layer of a decoder-only
// model: a decoder without an encoder to read is an encoder with a causal mask.
class EncoderLayer : public Module {
 public:
  static constexpr int64_t sublayers = 2;  // attention, feed-forward

  // `residual_depth`: the number of sublayers of the whole stack, for InitKind::gpt2. Throws
  // InputError for values out of range and for options that contradict each other.
  explicit EncoderLayer(const BlockOptions& options, int64_t residual_depth = sublayers,
                        const Parts& parts = transformer_parts);
  // x (B, T, D) → (B, T, D)
  Tensor operator()(const Tensor& x, const SequenceContext& sequence) const;
  bool can_cache() const { return mixing_->can_cache(); }  // it can continue from a past

 private:
  Residual mixing_residual_;
  Part<std::unique_ptr<Mixing>> mixing_;
  Residual feed_forward_residual_;
  Part<FeedForward> feed_forward_;
};

// Attention, attention to the encoder's output (the memory), feed-forward.
class DecoderLayer : public Module {
 public:
  static constexpr int64_t sublayers = 3;  // attention, cross-attention, feed-forward

  explicit DecoderLayer(const BlockOptions& options, int64_t residual_depth = sublayers,
                        const Parts& parts = transformer_parts);
  // x (B, T, D), memory (B, Tk, Dm) → (B, T, D); `memory_mask` is for the memory. With a past, the
  // memory is read at the first call only.
  Tensor operator()(const Tensor& x, const SequenceContext& sequence, const Tensor& memory,
                    const KeepMask& memory_mask) const;
  bool can_cache() const { return mixing_->can_cache(); }  // it can continue from a past

 private:
  Residual mixing_residual_;
  Part<std::unique_ptr<Mixing>> mixing_;
  Residual cross_attention_residual_;
  Part<std::unique_ptr<Attention>> cross_attention_;
  Residual feed_forward_residual_;
  Part<FeedForward> feed_forward_;
};

// Applies layers, then a norm if has_final_norm(). Arguments after x are those of the layers.
template <class Layer>
class Stack : public Module {
 public:
  Stack(const BlockOptions& options, int64_t layers, const Parts& parts = transformer_parts);
  // x (B, T, D) → (B, T, D)
  template <class... Arguments>
  Tensor operator()(Tensor x, const Arguments&... arguments) const {
    for (const auto& layer : layers_) x = (*layer)(x, arguments...);
    return after_layers(x);
  }
  // The last step: the norm of what the last layer returns, if there is one.
  Tensor after_layers(const Tensor& x) const { return norm_ ? (*norm_)(x) : x; }
  // Returns whether all layers can continue from a cache.
  bool can_cache() const {
    return std::all_of(layers_.begin(), layers_.end(),
                       [](const auto& layer) { return layer->can_cache(); });
  }

 private:
  std::vector<Part<std::unique_ptr<Layer>>> layers_;
  Part<std::unique_ptr<Norm>> norm_;
};

using Encoder = Stack<EncoderLayer>;  // or a decoder without an encoder to read
using Decoder = Stack<DecoderLayer>;  // of an encoder-decoder

enum class Choice { automatic, yes, no };  // automatic: as another option implies

// The options of one stack of layers.
struct BlockOptions {
  int64_t dim = 64;  // D
  int64_t heads = 4;
  int64_t feed_forward = 0;      // hidden width; 0: 4 · dim
  double dropout = 0;            // of a sublayer's output, and inside the feed-forward network
  double attention_dropout = 0;  // of attention weights
  FeedForwardActivation activation = Activation::relu;
  NormOptions norm = {};  // LayerNorm, or RMSNorm
  bool norm_first = true;
  Choice final_norm = Choice::automatic;  // a norm after the last layer; automatic: if norm_first
  bool bias = true;                       // of linear layers and LayerNorm
  InitOptions init = {};
  // ---- set by the model
  bool causal = false;     // no position reads a later one
  int64_t memory_dim = 0;  // width of what a decoder attends to; 0: dim

  void fields(Fields& f);        // visits the options that a config can set
  void validate() const;         // throws InputError for values out of range
  bool has_final_norm() const {  // a norm follows the last layer
    return final_norm == Choice::automatic ? norm_first : final_norm == Choice::yes;
  }
};

// Makes what models differ in: mixing, cross-attention and positions. These are the Transformer's;
// a class for other models derives from this one.
class Parts {
 public:
  enum class Kind { none, sinusoidal, learned, rotary };  // of positions

  Parts() = default;
  // `max_length`: of learned positions.
  explicit Parts(Kind positions, int64_t max_length = 512)
      : kind_(positions), max_length_(max_length) {}
  virtual ~Parts() = default;

  // The name of the mixing sublayer, and so of its parameters.
  virtual const char* mixing_name() const { return "attention"; }
  // Throws InputError for values out of range, as all of these do.
  virtual std::unique_ptr<Mixing> mixing(const BlockOptions& o, const LinearOptions& linear) const;
  // The second sublayer of a decoder's layers, which reads the memory.
  virtual std::unique_ptr<Attention> cross_attention(const BlockOptions& o,
                                                     const LinearOptions& linear) const;
  // Positions for a model of width `dim`. `std`: of initial values. `grid`: the lengths of the axes
  // of a grid of positions.
  virtual std::unique_ptr<Positions> positions(int64_t dim, double std,
                                               std::span<const int64_t> grid) const;
  // The width of token vectors before they get positions.
  virtual int64_t token_width(int64_t dim) const { return dim; }
  virtual bool scales_tokens() const { return kind_ == Kind::sinusoidal; }  // by √width

 private:
  Kind kind_ = Kind::none;
  int64_t max_length_ = 512;
};

}  // namespace heed::inline HEED_REAL
