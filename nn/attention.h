// Multi-head attention, taken apart: similarity × normaliser × mask × head combination.
//
//   Q = x W^Q,  K = c W^K,  V = c W^V          self-attention where the context c is x, else cross
//   head h:  P = weights((s(Qₕ, Kₕ) + bias) / T),  zₕ = P Vₕ
//   output = φ(combined(z₁ … z_H))
//
// With nothing else said it is the Transformer's (Vaswani et al. 2017, section 3.2.2),
//   zₕ = softmax(Qₕ Kₕᵀ / √K) Vₕ,   output = [z₁; …; z_H] Wᵒ,
// which a fused kernel computes without ever holding P. Every other form is composed from the
// operations that define it; nn/similarity.h, nn/normaliser.h and nn/attention_options.h list what
// there is to choose from.
#pragma once

#include <memory>
#include <vector>

#include "nn/attention_options.h"
#include "nn/cache.h"
#include "nn/linear.h"
#include "nn/positional.h"
#include "nn/score_bias.h"
#include "nn/sequence_context.h"

namespace heed::inline HEED_REAL {

struct AttentionSetup {
  int64_t context_dim = 0;  // width of what keys and values are made from; 0: that of the queries
  double dropout = 0;       // of the attention weights
  LinearOptions linear;     // how the matrices start; the output joins the residual stream
  MultiHeadOptions form;
  // Of these, rotary, alibi and relative act in here; others do not concern attention.
  PositionalOptions positional{PositionalKind::none};
  std::vector<int64_t> grid = {};  // self-attention over a grid: the lengths of its axes
  int64_t value_source_dim = 0;    // width of what values are made from; 0: that of the context
};

class MultiHeadAttention : public Mixing {
 public:
  // Throws InputError for a form that contradicts itself or the widths.
  MultiHeadAttention(int64_t dim, int64_t heads, const AttentionSetup& setup = {});

  // x (B, Tq, D), context (B, Tk, Dc) → (B, Tq, D). `bias`, which broadcasts to (B, H, Tq, Tk), is
  // added to the scores.
  Tensor operator()(const Tensor& x, const Tensor& context, const KeepMask& mask,
                    const Tensor& bias = {}) const {
    return (*this)(x, context, context, mask, bias);
  }
  // The same with values made from another source than keys: (B, Tk, Dv).
  Tensor operator()(const Tensor& x, const Tensor& keys, const Tensor& values, const KeepMask& mask,
                    const Tensor& bias) const;
  // Self-attention, over the chosen axes of a grid if there is one. With a cache, of the places it
  // holds and those of x.
  Tensor operator()(const Tensor& x, const SequenceContext& around) const override;
  // Where no place sees a later one: what was made of a place stays as it is.
  bool can_cache() const override;
  // Cross-attention. With a cache, keys and values are made of the context at the first call.
  Tensor across(const Tensor& x, const Tensor& context, const KeepMask& mask,
                KeyValueCache* cache) const;

 private:
  // Heads of the same widths, side by side: all of them, or one each where they differ.
  struct Group {
    int64_t heads;
    std::unique_ptr<Similarity> similarity;
  };
  Tensor turned(const Tensor& x, int64_t first) const;
  Tensor queries(const Tensor& x, int64_t first) const;
  KeyValues keys_and_values(const Tensor& keys, const Tensor& values, int64_t first) const;
  Tensor attended(const Tensor& q, const KeyValues& to, const KeepMask& mask,
                  const Tensor& bias) const;
  Tensor attend_all(const Tensor& q, const KeyValues& to, const KeepMask& mask, const Tensor& bias,
                    std::vector<Tensor>* watched) const;
  Tensor attend(const Group& group, const Tensor& q, const KeyValues& to, const KeepMask& mask,
                const Tensor& bias, std::vector<Tensor>* watched) const;
  Tensor weights(const Group& group, const Tensor& q, const Tensor& k, const KeepMask& mask,
                 const Tensor& bias) const;
  Tensor score_bias(const Tensor& given, int64_t queries, int64_t keys) const;
  Tensor combined(const Tensor& heads) const;

  int64_t dim_, heads_;
  MultiHeadOptions form_;
  PositionalOptions positional_;
  std::vector<int64_t> grid_, axes_;
  double dropout_;
  HeadWidths widths_;
  std::vector<Group> groups_;
  std::unique_ptr<Linear> query_, key_, value_, output_;
  Tensor head_weight_;  // weighted: (H); tensor: (H, V, V)
  std::unique_ptr<ScoreBias> positions_;
  std::unique_ptr<GraphDistanceBias> distances_;
};

// A fixed number of learned queries, which read a sequence of any length and order (Lee et al.
// 2019, "Set Transformer", equation 11; as the word attention of Yang et al. 2016 with one query).
class LearnedQueries : public Module {
 public:
  LearnedQueries(int64_t count, int64_t dim, int64_t heads, const AttentionSetup& setup = {});
  // x (B, T, D) → (B, count, D). `mask` may hide keys; throws Error if it is causal or a window,
  // for a learned query has no place in the sequence.
  Tensor operator()(const Tensor& x, const KeepMask& mask) const;

  Tensor queries;  // (count, D)

 private:
  MultiHeadAttention attention_;
};

}  // namespace heed::inline HEED_REAL
