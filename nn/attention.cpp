// Defines nn/attention.h: the formulas in their order, then the construction of the layer.
#include "nn/attention.h"

#include <cmath>

#include "core/scope.h"
#include "nn/tap.h"

namespace heed::inline HEED_REAL {

// Q = x Wqᵀ, for queries that start at position `first`.
Tensor MultiHeadAttention::queries(const Tensor& x, int64_t first) const {
  return tapped(*this, Site::queries, rotated(query_(x), first));
}

// K = c Wkᵀ,  V = c Wvᵀ
KeyValues MultiHeadAttention::keys_and_values(const Tensor& c, int64_t first) const {
  const Tensor k = key_(c);
  const Tensor v = tapped(*this, Site::values, value_(c));
  return {tapped(*this, Site::keys, rotated(k, first)), v, c.dim(1)};
}

// y = z Woᵀ,  z = [P₁ V₁; …; P_H V_H],  Pₕ = softmax(Qₕ Kₕᵀ / √K)
Tensor MultiHeadAttention::attend(const Tensor& q, const KeyValues& kv, KeepMask mask) const {
  mask.causal = mask.causal || causal_;
  Tensor z = replaced_heads(q, kv, mask);
  if (!z) {
    const bool has_free_rows = kv.length < kv.keys.dim(1);  // of a cache
    z = scaled_dot_product_attention(q, kv.keys, kv.values, heads_,
                                     {.scale = scale_,
                                      .mask = mask,
                                      .dropout = dropout_,
                                      .keys = has_free_rows ? kv.length : 0});
  }
  z = tapped(*this, Site::heads, std::move(z));
  const Tensor y = replaced_output(z);
  return y ? y : output_(z);
}

// One statement per projection: gradients are added in the order in which results were computed,
// and C++ does not fix the order in which the arguments of one call are.
Tensor MultiHeadAttention::operator()(const Tensor& x, const SequenceContext& sequence) const {
  const ModuleScope here(*this);
  Past* const past = sequence.past;  // null in training
  check(!past || can_cache(), "multi-head attention: a cache needs causal attention in a sequence");
  const int64_t first = past ? past->length() : 0;
  const Tensor q = queries(x, first);
  const KeyValues own = keys_and_values(x, first);
  return attend(q, past ? past->append(*this, own) : own, sequence.mask);
}

Tensor MultiHeadAttention::across(const Tensor& x, const Tensor& memory, const KeepMask& mask,
                                  Past* past) const {
  const ModuleScope here(*this);
  if (!past) {
    const Tensor q = queries(x, 0);
    return attend(q, keys_and_values(memory, 0), mask);
  }
  KeyValues& kept = past->memory(*this);  // the memory does not grow: read it once
  if (!kept.keys) kept = keys_and_values(memory, 0);
  return attend(queries(x, 0), kept, mask);
}

// ---- construction

MultiHeadAttention::MultiHeadAttention(int64_t dim, int64_t heads,
                                       const MultiHeadAttentionOptions& o)
    : query_(this, "query", dim, dim, o.linear.inside()),
      key_(this, "key", o.context_dim ? o.context_dim : dim, dim, o.linear.inside()),
      value_(this, "value", o.context_dim ? o.context_dim : dim, dim, o.linear.inside()),
      output_(this, "output", dim, dim, o.linear),
      heads_(heads),
      causal_(o.causal),
      dropout_(o.dropout),
      rotary_(o.rotary) {
  check_input(heads >= 1 && dim % heads == 0,
              "multi-head attention: {} heads do not divide the width {}", heads, dim);
  check_input(o.dropout >= 0 && o.dropout <= 0.99,
              "multi-head attention: dropout: expected a number, 0 … 0.99, found {}", o.dropout);
  scale_ = 1 / std::sqrt(static_cast<double>(dim / heads));
}

// Queries or keys (B, T, H·K) whose products depend on the distance of their positions.
Tensor MultiHeadAttention::rotated(const Tensor& x, int64_t first) const {
  if (!rotary_) return x;
  RotaryOptions here = *rotary_;
  here.first_position = first;
  return rotary(x, heads_, here);
}

}  // namespace heed::inline HEED_REAL
