// Multi-head attention in every form = similarity × normaliser × mask × head combination.
//
//   Q = x W^Q,  K = c W^K,  V = c W^V          self-attention: c = x; else cross-attention
//   head h:  P = weights((s(Qₕ, Kₕ) + bias) / T),  zₕ = P Vₕ
//   output = φ(combine(z₁ … z_H))
//
// The standard form is nn/attention.h, which a model takes wherever its options allow. A form with
// dot products and a softmax runs in the fused kernel of the standard one, which never stores P.
// The others are composed from the operations that define them. For the choices see
// nn/similarity.h, nn/normaliser.h and nn/attention_options.h.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "nn/attention.h"
#include "nn/attention_options.h"
#include "nn/graph.h"
#include "nn/positional.h"
#include "nn/score_bias.h"

namespace heed::inline HEED_REAL {

// What a GeneralAttention is made of. The defaults: the standard self-attention.
struct AttentionSetup {
  int64_t context_dim = 0;            // width of the vectors of keys and values; 0: that of queries
  double dropout = 0;                 // of the attention weights
  LinearOptions linear = {};          // of the projections; the last joins the residual stream
  MultiHeadOptions form = {};         // what is chosen in [model.attention]
  PositionalOptions positional = {};  // if its kind acts in attention
  std::vector<int64_t> grid = {};     // self-attention over a grid: the lengths of its axes
  int64_t value_source_dim = 0;       // width of the vectors of values; 0: context_dim
};

// An attention of any form.
class GeneralAttention : public Attention {
 public:
  // Throws InputError for values out of range, and for a form that contradicts itself or the
  // widths.
  GeneralAttention(int64_t dim, int64_t heads, const AttentionSetup& setup = {});

  // x (B, Tq, D), context (B, Tk, Dc) → (B, Tq, D). `bias`, which broadcasts to (B, H, Tq, Tk), is
  // added to the scores. `mask` hides keys in addition to the form's `causal` and `window`.
  Tensor operator()(const Tensor& x, const Tensor& context, const KeepMask& mask,
                    const Tensor& bias = {}) const {
    return (*this)(x, context, context, mask, bias);
  }
  // The same with keys and values from different vectors, (B, Tk, Dc) and (B, Tk, Dv). Queries and
  // keys are aligned at their ends.
  Tensor operator()(const Tensor& x, const Tensor& keys, const Tensor& values, const KeepMask& mask,
                    const Tensor& bias) const;
  // Self-attention, on a grid along the chosen axes. With a past, keys and values are those of the
  // past and those of x.
  Tensor operator()(const Tensor& x, const SequenceContext& sequence) const override;
  // True if it is causal, so that the keys and values of a position never change.
  bool can_cache() const override;
  // Returns the lengths of all axes of a self-attention along some axes of a grid, else nothing.
  std::span<const int64_t> lines_of() const {
    return axes_.size() < grid_.size() ? std::span(grid_) : std::span<const int64_t>();
  }
  // Returns the axes that it attends along.
  std::span<const int64_t> line_axes() const { return axes_; }
  Tensor across(const Tensor& x, const Tensor& memory, const KeepMask& mask,
                Past* past = nullptr) const override;

 private:
  struct Columns {
    int64_t first, last;
  };
  // Heads that are computed together: all, or one if widths differ.
  struct Group {
    int64_t first, heads;
    Columns key, value;  // of Q and K, of V and z
    Part<std::unique_ptr<Similarity>> similarity;
  };
  std::vector<Group> make_groups(const InitOptions& init);
  static Tensor columns(const Tensor& x, Columns which);
  template <class F>
  Tensor for_groups(const F& f) const;
  Tensor queries(const Tensor& x, int64_t first) const;
  KeyValues keys_and_values(const Tensor& keys, const Tensor& values, int64_t first) const;
  Tensor rotated(const Tensor& x, int64_t first) const;
  Tensor attend(const Tensor& q, const KeyValues& kv, const KeepMask& mask,
                const Tensor& bias) const;
  std::vector<Tensor> tapped_weights(const Tensor& q, const KeyValues& kv, const KeepMask& mask,
                                     const Tensor& bias, bool& replaced) const;
  Tensor scores(const Group& group, const Tensor& q, const Tensor& k, const Tensor& bias) const;
  Tensor weights(const Tensor& scores, const KeepMask& mask) const;
  Tensor output(const Tensor& z) const;
  Tensor replaced_output(const Tensor& z) const;
  Tensor combine_heads(const Tensor& z) const;

  int64_t dim_, heads_;
  MultiHeadOptions form_;
  PositionalOptions positional_;
  std::vector<int64_t> grid_, axes_;
  double dropout_;
  Part<std::unique_ptr<Linear>> query_, key_, value_, output_;
  Part<Tensor> head_weight_;  // Combine::weighted: (H); tensor: (H, V, V)
  std::vector<Group> groups_;
  Part<std::unique_ptr<ScoreBias>> position_bias_;
  Part<std::unique_ptr<GraphDistanceBias>> distance_bias_;
};

// The first `length` positions of x (B, T, …).
Tensor filled(const Tensor& x, int64_t length);

// For a tap that wants Site::head_outputs: `output` of z (B, Tq, Σ V) with all heads but one set to
// 0, for each head. Returns their sum plus the bias if the tap replaces one, else no tensor.
Tensor replaced_sum_of_heads(const Module& layer, const Tensor& z, std::span<const int64_t> widths,
                             const Tensor& bias,
                             const std::function<Tensor(const Tensor&)>& output);

// Returns multi-head attention of these options: MultiHeadAttention where the form is the standard
// one, else GeneralAttention. Both compute the same bits. Throws InputError as GeneralAttention.
std::unique_ptr<Attention> make_attention(int64_t dim, int64_t heads, const AttentionSetup& setup);

}  // namespace heed::inline HEED_REAL
