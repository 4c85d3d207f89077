// Multi-head attention (Vaswani et al. 2017, section 3.2.2): the only layer in which positions see
// each other. Each position sends a query, compares it with the keys of all positions, and takes
// the mean of their values, weighted by how well query and key agree.
//
//   Q = x Wqᵀ                    what each position looks for        (B, Tq, H·K)
//   K = c Wkᵀ,  V = c Wvᵀ        what it is found by, what it says   (B, Tk, H·K)
//   Pₕ = softmax(Qₕ Kₕᵀ / √K)    how much query i reads of key j     (Tq, Tk), per example and head
//   y = [P₁ V₁; …; P_H V_H] Woᵀ  heads side by side, then mixed      (B, Tq, D)
//
// Self-attention reads its own sequence, c = x. Cross-attention reads another, c = memory.
#pragma once

#include <vector>

#include "core/standard_ops.h"
#include "nn/linear.h"
#include "nn/mixing.h"
#include "nn/positions.h"

namespace heed::inline HEED_REAL {

// Steps that the forms share, of heads: q (B, H, Tq, K), k (B, H, Tk, K), scores (B, H, Tq, Tk).
Tensor scaled_products(const Tensor& q, const Tensor& k, double scale);  // q kᵀ · scale
Tensor softmax_weights(const Tensor& scores, const KeepMask& mask);  // over the keys that are kept
// What other forms choose. Their definitions are in nn/forms.
extern const struct SimilarityRule* const scaled_dot_product;  // null in the minimal build
extern const struct NormaliserRule* const softmax_of_scores;   // the same
enum class ScoreScale;
enum class HeadWidth;
enum class Combine;
enum class Over;

// Options of a layer of attention. The defaults: self-attention of an encoder, as above.
struct MultiHeadAttentionOptions {
  int64_t context_dim = 0;            // width of c; 0: that of x
  bool causal = false;                // no position reads a later one
  double dropout = 0;                 // of the attention weights P
  LinearOptions linear = {};          // of the projections; the last joins the residual stream
  PositionalOptions positional = {};  // those that act in attention: rotary turns Q and K
  // ---- other forms, by make_attention(). fields() describes each.
  const SimilarityRule* similarity = scaled_dot_product;
  ScoreScale scale = {};              // of scaled_dot: 1/√K, …
  double scale_value = 1, sigma = 1;  // of scale = "value"; of gaussian
  const NormaliserRule* normaliser = softmax_of_scores;
  bool straight_through = false;
  double temperature = 1, final_temperature = 0;
  int64_t temperature_steps = 0;
  HeadWidth head_width = {};                            // D / H, or D
  int64_t key_dim = 0, value_dim = 0;                   // of every head; 0: by head_width
  std::vector<int64_t> key_dims = {}, value_dims = {};  // of each head, instead of these
  Combine combine = {};
  bool project_query = true, project_key = true, project_value = true, tie_key_value = false;
  int64_t projection_hidden = 0;  // N: those projections are W₂ φ(W₁ x); 0: W x
  Activation projection_activation = Activation::tanh;  // that φ
  int64_t output_dim = 0;                               // width of y; 0: D
  Over over = {};                                       // mixes positions, or features
  int64_t window = 0;
  Activation activation = Activation::none;
  int64_t graph_distances = 0;
  std::vector<int64_t> axes = {}, grid = {};  // self-attention along axes of a grid; its lengths
  int64_t value_source_dim = 0;               // width of the vectors of values; 0: context_dim

  void fields(Fields& f);                                 // visits the keys of [model.attention]
  void check_standard(int64_t dim, int64_t heads) const;  // throws as MultiHeadAttention() does
  // The same form for queries from elsewhere: without what relates the positions of one sequence.
  MultiHeadAttentionOptions across(int64_t context_width) const;
};

// The layer y above, with parameters Wq, Wk, Wv, Wo. A form is a class that overrides steps of it.
class MultiHeadAttention : public Mixing {
 public:
  // Throws InputError unless `heads` divides `dim` and for values out of range, and Error for other
  // forms.
  MultiHeadAttention(int64_t dim, int64_t heads, const MultiHeadAttentionOptions& options = {});

  // Self-attention: x (B, T, D) → (B, T, D)
  Tensor operator()(const Tensor& x, const SequenceContext& sequence) const override;
  // Cross-attention: x (B, Tq, D), memory (B, Tk, Dm) → (B, Tq, D). `mask` is for the memory. With
  // a past, the memory is read at the first call only.
  Tensor across(const Tensor& x, const Tensor& memory, const KeepMask& mask,
                Past* past = nullptr) const;
  bool can_cache() const override { return options_.causal; }

 protected:
  struct Projections {  // Wq, Wk, Wv, Wo; a form may lack any
    std::unique_ptr<Linear> query, key, value, output;
  };
  MultiHeadAttention(int64_t dim, int64_t heads, const MultiHeadAttentionOptions& options,
                     Projections projections);
  Tensor queries(const Tensor& x, int64_t first) const;  // Q, at the positions first, first + 1, …
  KeyValues keys_and_values(const Tensor& keys, const Tensor& values, int64_t first) const;
  Tensor output(const Tensor& z) const;  // y

  // ---- the steps, from Q, K (B, T, H·K) and V to P (B, H, Tq, Tk), z = [P₁ V₁; …; P_H V_H] and y
  // W x of the projection Wq, Wk or Wv; x itself where a form lacks it.
  virtual Tensor projected(const Part<std::unique_ptr<Linear>>& w, const Tensor& x) const;
  virtual Tensor rotated(const Tensor& x, int64_t first) const;  // Q or K with their positions
  // All steps to z. `bias` (B or 1, H or 1, Tq, Tk) is added to the scores; no tensor: none is.
  virtual Tensor attend(const Tensor& q, const KeyValues& kv, KeepMask mask,
                        const Tensor& bias = {}) const;
  // Computes z without storing P, as a kernel of the full build does. No tensor: it cannot.
  virtual Tensor fused(const Tensor& q, const KeyValues& kv, const KeepMask& mask) const;
  virtual Tensor scores(const Tensor& q, const Tensor& k, const Tensor& bias) const;
  virtual Tensor weights(const Tensor& s, const KeepMask& m) const { return softmax_weights(s, m); }
  virtual Tensor means(const Tensor& p, const Tensor& v) const;  // z
  virtual Tensor combined(const Tensor& z) const;                // y

  MultiHeadAttentionOptions options_;
  int64_t dim_, heads_;
  Part<std::unique_ptr<Linear>> query_, key_, value_, output_;  // Wq, Wk, Wv, Wo

 private:
  Tensor replaced_output(const Tensor& z) const;  // y if a tap replaces what heads add to it
};

// Returns attention in the form that the options choose. Throws InputError for options out of range
// and, naming the key, for options that contradict each other or the widths.
std::unique_ptr<MultiHeadAttention> make_attention(int64_t dim, int64_t heads,
                                                   const MultiHeadAttentionOptions& options = {});

}  // namespace heed::inline HEED_REAL
