// The layers of a Transformer and their stacks.
//
// Each layer is a residual stream x to which its parts add. With s a part (attention or what stands
// in its place, feed-forward):
//   post-norm (Vaswani et al. 2017, section 3.1):   x = norm(x + dropout(s(x)))
//   pre-norm  (Xiong et al. 2020; norm_first):      x = x + dropout(s(norm(x)))
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "nn/attention.h"
#include "nn/convolution.h"
#include "nn/feed_forward.h"
#include "nn/norm.h"

namespace heed::inline HEED_REAL {

// What lets the places of a sequence exchange what they hold.
enum class MixingKind { attention, graph_attention, dense, convolution, gru };
inline constexpr const char* mixing_names[] = {"attention", "graph_attention", "dense",
                                               "convolution", "gru"};

struct MixingOptions {
  MixingKind kind = MixingKind::attention;
  int64_t kernel_size = 3;          // convolution
  Padding padding = Padding::zero;  // convolution
  int64_t length = 64;              // dense: places there are weights for

  void fields(Fields& f);  // the section [model.block]
};

struct BlockOptions {
  int64_t dim = 64, heads = 4, feed_forward = 256;
  double dropout = 0;            // of what a part adds, and inside the feed-forward
  double attention_dropout = 0;  // of attention weights
  FeedForwardActivation activation = Activation::relu;
  NormOptions norm;
  bool norm_first = true;
  bool final_norm = true;  // one more norm behind the stack
  bool bias = true;        // of the linear layers
  InitOptions init;
  MixingOptions mixing;
  MultiHeadOptions attention;  // its `causal`: no place sees a later one
  PositionalOptions positional{PositionalKind::none};
  std::vector<int64_t> grid;  // lengths of its axes, where the places lie on one
  int64_t edge_features = 0;  // of a graph
  int64_t memory_dim = 0;     // width of what a decoder attends to; 0: dim
};

// A part of a layer, its norm, and the residual stream it joins.
struct Residual {
  Norm norm;
  bool norm_first;
  double dropout;

  explicit Residual(const BlockOptions& options);
  template <class Part>
  Tensor operator()(const Tensor& x, const Part& part) const;
};

// Mixing and feed-forward. With a causal mask it is a layer of a decoder-only model.
class EncoderLayer : public Module {
 public:
  // `residual_depth`: results that join the residual stream over the whole stack, for
  // InitKind::gpt2.
  EncoderLayer(const BlockOptions& options, int64_t residual_depth);
  // x (B, T, D) → (B, T, D)
  Tensor operator()(const Tensor& x, const SequenceContext& around) const;
  bool can_cache() const { return mixing_->can_cache(); }

  static constexpr int64_t parts = 2;

 private:
  Residual around_mixing_;
  std::unique_ptr<Mixing> mixing_;
  Residual around_feed_forward_;
  FeedForward feed_forward_;
};

// Mixing, attention to the encoder's output, feed-forward.
class DecoderLayer : public Module {
 public:
  DecoderLayer(const BlockOptions& options, int64_t residual_depth);
  // x (B, T, D), memory (B, Tk, Dm) → (B, T, D); `memory_mask` is for the memory. With a cache the
  // memory is read at the first call alone.
  Tensor operator()(const Tensor& x, const SequenceContext& around, const Tensor& memory,
                    const KeepMask& memory_mask) const;
  bool can_cache() const { return mixing_->can_cache(); }

  static constexpr int64_t parts = 3;

 private:
  Residual around_mixing_;
  std::unique_ptr<Mixing> mixing_;
  Residual around_cross_attention_;
  MultiHeadAttention cross_attention_;
  Residual around_feed_forward_;
  FeedForward feed_forward_;
};

// Layers, and a norm behind them if asked for. Arguments after x are those of the layers.
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
  // Whether all layers can go on from a cache.
  bool can_cache() const {
    return std::all_of(layers_.begin(), layers_.end(),
                       [](const auto& l) { return l->can_cache(); });
  }

 private:
  std::vector<std::unique_ptr<Layer>> layers_;
  std::unique_ptr<Norm> norm_;
};

using Encoder = Stack<EncoderLayer>;
using Decoder = Stack<DecoderLayer>;

}  // namespace heed::inline HEED_REAL
