// Multi-head attention (Vaswani et al. 2017, section 3.2.2): the only layer in which positions see
// each other. Each position sends a query, compares it with the keys of all positions, and takes
// the mean of their values, weighted by how well query and key agree.
//
//   Q = x Wqᵀ                    what each position looks for        (B, Tq, H·K)
//   K = c Wkᵀ,  V = c Wvᵀ        what it is found by, what it says   (B, Tk, H·K)
//   Pₕ = softmax(Qₕ Kₕᵀ / √K)    how much query i reads of key j     (Tq, Tk), per example and head
//   y = [P₁ V₁; …; P_H V_H] Woᵀ  heads side by side, then mixed      (B, Tq, D)
//
// Self-attention reads its own sequence, c = x. Cross-attention reads another, c = memory. Papers
// write x W; a weight is stored as (outputs, inputs), so it is x wᵀ here.
#pragma once

#include <optional>

#include "core/standard_ops.h"
#include "nn/linear.h"
#include "nn/mixing.h"

namespace heed::inline HEED_REAL {

// Options of MultiHeadAttention. The defaults: self-attention of an encoder.
struct MultiHeadAttentionOptions {
  int64_t context_dim = 0;    // width of c; 0: that of x
  bool causal = false;        // no position reads a later one
  double dropout = 0;         // of the attention weights P
  LinearOptions linear = {};  // of the projections; the last joins the residual stream
  std::optional<RotaryOptions> rotary = {};  // turns queries and keys by their positions
};

// The layer y, with parameters Wq, Wk, Wv and Wo.
class MultiHeadAttention : public Attention {
 public:
  // Throws InputError unless `heads` divides `dim`, and for a dropout out of range.
  MultiHeadAttention(int64_t dim, int64_t heads, const MultiHeadAttentionOptions& options = {});

  // Self-attention: x (B, T, D) → (B, T, D)
  Tensor operator()(const Tensor& x, const SequenceContext& sequence) const override;
  // Cross-attention: x (B, Tq, D), memory (B, Tk, Dm) → (B, Tq, D)
  Tensor across(const Tensor& x, const Tensor& memory, const KeepMask& mask,
                Past* past = nullptr) const override;
  bool can_cache() const override { return causal_; }

 private:
  Tensor queries(const Tensor& x, int64_t first) const;
  KeyValues keys_and_values(const Tensor& c, int64_t first) const;
  Tensor attend(const Tensor& q, const KeyValues& kv, KeepMask mask) const;
  Tensor rotated(const Tensor& x, int64_t first) const;
  // Returns [P₁ V₁; …; P_H V_H] if a tap (nn/tap.h) replaces P or the scores, else no tensor.
  Tensor replaced_heads(const Tensor& q, const KeyValues& kv, const KeepMask& mask) const;
  Tensor replaced_output(const Tensor& z) const;  // y if a tap replaces what heads add to it

  Part<Linear> query_, key_, value_, output_;  // Wq, Wk, Wv, Wo
  int64_t heads_;
  bool causal_;
  double dropout_, scale_ = 1;  // 1/√K
  std::optional<RotaryOptions> rotary_;
};

}  // namespace heed::inline HEED_REAL
