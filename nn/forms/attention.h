// Multi-head attention in every form = similarity × normaliser × mask × head combination.
//
//   Q = x W^Q,  K = c W^K,  V = c W^V          self-attention: c = x; else cross-attention
//   head h:  P = weights((s(Qₕ, Kₕ) + bias) / T),  zₕ = P Vₕ
//   output = φ(combine(z₁ … z_H))
//
// Any of the first three may be W₂ φ(W₁ x) instead (Ji, Xie & Gao: θ, φ and g are "commonly"
// linear). Over features, P is one matrix for all T positions, and its K rows and columns are the
// columns of Qₕ and Kₕ: a blog's Z = V W(Q, K), with W of v × v'.
//
//   head h:  P = weights(Qₕᵀ Kₕ / √T),  zₕ = Vₕ P
//
// A form with dot products and a softmax runs in the fused kernel, which never stores P. The others
// are composed from the operations that define them. For the choices see nn/forms/similarity.h,
// nn/forms/normaliser.h and below.
#pragma once

#include <functional>
#include <span>

#include "nn/attention.h"
#include "nn/forms/graph.h"
#include "nn/forms/normaliser.h"
#include "nn/forms/positional.h"
#include "nn/forms/score_bias.h"
#include "nn/forms/similarity.h"

namespace heed::inline HEED_REAL {

// The width of a head if no key sets it.
enum class HeadWidth {
  narrow,  // D / H: all heads together are as wide as the model (Vaswani et al. 2017)
  wide,    // D: each head is, and there are H times as many weights
};

// How the outputs of the heads, zₕ of width Vₕ, are combined.
enum class Combine {
  concat_projection,  // Wᵒ [z₁; …; z_H]
  concat,             // [z₁; …; z_H]
  weighted,           // Σₕ wₕ zₕ, a learned scalar for each head
  tensor,             // Σₕ zₕ Wₕ, a learned tensor (H, D, D)
  mean,
  max
};

// What the weights of a head mix.
enum class Over { positions, features };

// The width of the output of attention in a model of width `dim`.
inline int64_t output_width(const MultiHeadAttentionOptions& options, int64_t dim) {
  return options.output_dim > 0 ? options.output_dim : dim;
}

// The widths of the heads of an attention.
struct HeadWidths {
  std::vector<int64_t> key, value;  // K and V of every head

  bool equal() const;      // all K are equal, and all V
  int64_t keys() const;    // Σ K
  int64_t values() const;  // Σ V
};

// Throws InputError if the widths are not determined.
HeadWidths head_widths(const MultiHeadAttentionOptions& options, int64_t dim, int64_t heads);
// Throws InputError for values out of range and, naming the key, for options that contradict each
// other or the widths: H heads in a model of width `dim`.
void validate_attention(const MultiHeadAttentionOptions& options, int64_t dim, int64_t heads);
// Returns whether the weights are a softmax of the scores.
bool is_softmax(const MultiHeadAttentionOptions& options);
// Scores are divided by a temperature, which may change during training:
//   T(step) = initial · (final / initial)^(step / steps), and final after that.
double temperature_at(const MultiHeadAttentionOptions& options, int64_t step);

// Attention in any form: the steps as the options choose them.
class AttentionForm : public MultiHeadAttention {
 public:
  // Throws InputError as validate_attention() does.
  AttentionForm(int64_t dim, int64_t heads, const MultiHeadAttentionOptions& options = {});

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
  // Self-attention, on a grid along the chosen axes.
  Tensor operator()(const Tensor& x, const SequenceContext& sequence) const override;
  // True if it is causal, so that the keys and values of a position never change.
  bool can_cache() const override;
  // Returns the lengths of all axes of a self-attention along some axes of a grid, else nothing.
  std::span<const int64_t> lines_of() const;
  // Returns the axes that it attends along.
  std::span<const int64_t> line_axes() const { return options_.axes; }

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
  // The first layers of projections: W₁.
  struct Hidden {
    Part<std::unique_ptr<Linear>> query, key, value;
  };
  static Projections projections(int64_t dim, int64_t heads,
                                 const MultiHeadAttentionOptions& options);
  std::vector<Group> make_groups();
  static Tensor columns(const Tensor& x, Columns which);
  template <class F>
  Tensor for_groups(int axis, const F& f) const;

  Tensor over_features(const Tensor& q, const KeyValues& kv, const KeepMask& mask) const;
  Tensor attend(const Tensor& q, const KeyValues& kv, KeepMask mask,
                const Tensor& bias) const override;
  Tensor projected(const Part<std::unique_ptr<Linear>>& w, const Tensor& x) const override;
  Tensor rotated(const Tensor& x, int64_t first) const override;
  Tensor scores(const Tensor& q, const Tensor& k, const Tensor& bias) const override;
  Tensor weights(const Tensor& scores, const KeepMask& mask) const override;
  Tensor means(const Tensor& p, const Tensor& v) const override;
  Tensor fused(const Tensor& q, const KeyValues& kv, const KeepMask& mask) const override;
  Tensor combined(const Tensor& z) const override;

  Hidden hidden_;             // none without projection_hidden
  Part<Tensor> head_weight_;  // Combine::weighted: (H); tensor: (H, V, V), V the output's width
  std::vector<Group> groups_;
  Part<std::unique_ptr<ScoreBias>> position_bias_;
  Part<std::unique_ptr<GraphDistanceBias>> distance_bias_;
};

// For a tap that wants Site::head_outputs: `output` of z (B, Tq, Σ V) with all heads but one set to
// 0, for each head. Returns their sum plus the bias if the tap replaces one, else no tensor.
Tensor replaced_sum_of_heads(const Module& layer, const Tensor& z, std::span<const int64_t> widths,
                             const Tensor& bias,
                             const std::function<Tensor(const Tensor&)>& output);

}  // namespace heed::inline HEED_REAL
