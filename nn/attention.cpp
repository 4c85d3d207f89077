// Defines nn/attention.h: the formulas in their order, then the construction of the layer.
#include "nn/attention.h"

#include <cmath>

#include "nn/tap.h"

namespace heed::inline HEED_REAL {

// The filled positions of x (B, T, …): a cache has free ones at the end.
static Tensor filled(const Tensor& x, int64_t length) {
  return length == x.dim(1) ? x : slice(x, 1, 0, length);
}

Tensor MultiHeadAttention::projected(const Part<std::unique_ptr<Linear>>& w,
                                     const Tensor& x) const {
  return w ? (*w)(x) : x;
}

// Q = x Wqᵀ
Tensor MultiHeadAttention::queries(const Tensor& x, int64_t first) const {
  return tapped(*this, Site::queries, rotated(projected(query_, x), first));
}

// K = c Wkᵀ,  V = c Wvᵀ
KeyValues MultiHeadAttention::keys_and_values(const Tensor& keys, const Tensor& values,
                                              int64_t first) const {
  const Tensor k = projected(key_, keys);
  const Tensor v =
      tapped(*this, Site::values, options_.tie_key_value ? k : projected(value_, values));
  return {tapped(*this, Site::keys, rotated(k, first)), v, k.dim(1)};
}

Tensor MultiHeadAttention::rotated(const Tensor& x, int64_t first) const {
  const PositionalOptions& o = options_.positional;
  return o.kind->rotate ? o.kind->rotate(x, heads_, first, o) : x;
}

// Qₕ Kₕᵀ / √K
Tensor MultiHeadAttention::scores(const Tensor& q, const Tensor& k, const Tensor& bias) const {
  const Tensor qh = split_heads(q, heads_), kh = split_heads(k, heads_);
  const Tensor s = scaled_products(qh, kh, 1 / std::sqrt(static_cast<double>(qh.dim(-1))));
  return bias ? s + bias : s;
}

Tensor scaled_products(const Tensor& q, const Tensor& k, double scale) {
  return mul(matmul(q, transpose(k, -1, -2)), static_cast<real>(scale));
}

// Pₕ = softmax(Qₕ Kₕᵀ / √K), where hidden scores are -∞
Tensor softmax_weights(const Tensor& s, const KeepMask& mask) {
  return softmax(masked_fill(s, mask, -INFINITY));
}

// [P₁ V₁; …; P_H V_H]
Tensor MultiHeadAttention::means(const Tensor& p, const Tensor& v) const {
  const Tensor vh = split_heads(v, heads_);
  return merge_heads(matmul(dropout(p, options_.dropout), vh));
}

Tensor MultiHeadAttention::attend(const Tensor& q, const KeyValues& kv, KeepMask mask,
                                  const Tensor& bias) const {
  mask.causal = mask.causal || options_.causal;
  Tensor z = bias ? Tensor() : fused(q, kv, mask);
  if (!z || Tap::wanted(*this, Site::scores) || Tap::wanted(*this, Site::weights)) {
    const Tensor s = scores(q, filled(kv.keys, kv.length), bias);
    const Tensor seen = tapped(*this, Site::scores, s), p = weights(seen, mask);
    const Tensor used = tapped(*this, Site::weights, p);
    if (!z || !seen.same_as(s) || !used.same_as(p)) z = means(used, filled(kv.values, kv.length));
  }
  return tapped(*this, Site::heads, std::move(z));
}

// y = z Woᵀ
Tensor MultiHeadAttention::combined(const Tensor& z) const { return (*output_)(z); }

Tensor MultiHeadAttention::output(const Tensor& z) const {
  const Tensor y = replaced_output(z);
  return activate(options_.activation, y ? y : combined(z));
}

// One statement per projection: gradients are added in the order in which results were computed,
// and C++ does not fix the order in which the arguments of one call are.
Tensor MultiHeadAttention::operator()(const Tensor& x, const SequenceContext& sequence) const {
  const ModuleScope here(*this);
  Past* const past = sequence.past;  // null in training
  check(!past || can_cache(),
        "multi-head attention: a cache needs causal attention in a sequence; set "
        "`attention.causal` = true");
  const int64_t first = past ? past->length() : 0;
  const Tensor q = queries(x, first);
  const KeyValues own = keys_and_values(x, x, first);
  return output(attend(q, past ? past->append(*this, own) : own, sequence.mask));
}

Tensor MultiHeadAttention::across(const Tensor& x, const Tensor& memory, const KeepMask& mask,
                                  Past* past) const {
  const ModuleScope here(*this);
  const Tensor q = queries(x, 0);
  KeyValues now;
  KeyValues& kv = past ? past->memory(*this) : now;  // the memory does not grow: read it once
  if (!kv.keys) kv = keys_and_values(memory, memory, 0);
  return output(attend(q, kv, mask));
}

// ---- construction

MultiHeadAttention::MultiHeadAttention(int64_t dim, int64_t heads,
                                       const MultiHeadAttentionOptions& o)
    : MultiHeadAttention(
          dim, heads, o,
          {std::make_unique<Linear>(dim, dim, o.linear.inside()),
           std::make_unique<Linear>(o.context_dim ? o.context_dim : dim, dim, o.linear.inside()),
           std::make_unique<Linear>(o.context_dim ? o.context_dim : dim, dim, o.linear.inside()),
           std::make_unique<Linear>(dim, dim, o.linear)}) {
  o.check_standard(dim, heads);
}

MultiHeadAttention::MultiHeadAttention(int64_t dim, int64_t heads,
                                       const MultiHeadAttentionOptions& options, Projections w)
    : options_(options),
      dim_(dim),
      heads_(heads),
      query_(this, "query", std::move(w.query)),
      key_(this, "key", std::move(w.key)),
      value_(this, "value", std::move(w.value)),
      output_(this, "output", std::move(w.output)) {}

MultiHeadAttentionOptions MultiHeadAttentionOptions::across(int64_t width) const {
  MultiHeadAttentionOptions form = *this;
  form.context_dim = width;
  form.causal = false;
  form.window = form.graph_distances = form.output_dim = 0;
  form.over = {};
  form.axes = form.grid = {};
  form.positional = {};
  return form;
}

}  // namespace heed::inline HEED_REAL
