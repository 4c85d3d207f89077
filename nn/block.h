// The layers of a Transformer and their stacks.
//
// Each layer is a residual stream x to which its parts add. With s a part (attention,
// feed-forward):
//   post-norm (Vaswani et al. 2017, section 3.1):   x = norm(x + dropout(s(x)))
//   pre-norm  (Xiong et al. 2020; norm_first):      x = x + dropout(s(norm(x)))
#pragma once

#include <memory>
#include <vector>

#include "nn/attention.h"
#include "nn/feed_forward.h"
#include "nn/norm.h"

namespace heed::inline HEED_REAL {

struct BlockOptions {
  int64_t dim = 64, heads = 4, feed_forward = 256;
  double dropout = 0;            // of what a part adds, and inside the feed-forward
  double attention_dropout = 0;  // of attention weights
  Activation activation = Activation::relu;
  NormOptions norm;
  bool norm_first = true;
  bool final_norm = true;  // one more norm behind the stack
  bool bias = true;        // of the linear layers
  InitOptions init;
};

// Self-attention and feed-forward. With a causal mask it is a layer of a decoder-only model.
class EncoderLayer : public Module {
 public:
  // `residual_depth`: results that join the residual stream over the whole stack, for
  // InitKind::gpt2.
  EncoderLayer(const BlockOptions& options, int64_t residual_depth);
  // x (B, T, D) → (B, T, D)
  Tensor operator()(const Tensor& x, const KeepMask& mask) const;

 private:
  Norm attention_norm_;
  MultiHeadAttention attention_;
  Norm feed_forward_norm_;
  FeedForward feed_forward_;
  bool norm_first_;
  double dropout_;
};

// Self-attention, attention to the encoder's output, feed-forward.
class DecoderLayer : public Module {
 public:
  DecoderLayer(const BlockOptions& options, int64_t residual_depth);
  // x (B, T, D), memory (B, Tk, D) → (B, T, D); `mask` is for x, `memory_mask` for the memory
  Tensor operator()(const Tensor& x, const Tensor& memory, const KeepMask& mask,
                    const KeepMask& memory_mask) const;

 private:
  Norm attention_norm_;
  MultiHeadAttention attention_;
  Norm cross_attention_norm_;
  MultiHeadAttention cross_attention_;
  Norm feed_forward_norm_;
  FeedForward feed_forward_;
  bool norm_first_;
  double dropout_;
};

class Encoder : public Module {
 public:
  Encoder(const BlockOptions& options, int64_t layers);
  // x (B, T, D) → (B, T, D)
  Tensor operator()(Tensor x, const KeepMask& mask) const;

 private:
  std::vector<std::unique_ptr<EncoderLayer>> layers_;
  std::unique_ptr<Norm> norm_;
};

class Decoder : public Module {
 public:
  Decoder(const BlockOptions& options, int64_t layers);
  // x (B, T, D), memory (B, Tk, D) → (B, T, D)
  Tensor operator()(Tensor x, const Tensor& memory, const KeepMask& mask,
                    const KeepMask& memory_mask) const;

 private:
  std::vector<std::unique_ptr<DecoderLayer>> layers_;
  std::unique_ptr<Norm> norm_;
};

}  // namespace heed::inline HEED_REAL
