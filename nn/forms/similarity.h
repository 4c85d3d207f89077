// The score s(q, k): how well a query matches a key, before any exponential. A form of it is a
// rule, in nn/forms/similarity.cpp or a file of its own, and a line of HEED_SIMILARITIES.
//
//   scaled_dot         q·k / √K, or with another scale        (Vaswani et al. 2017, equation 1)
//   dot                q·k                                    (Luong et al. 2015, "dot")
//   embedded_gaussian  θ(q)·φ(k), where f = eˢ; θ and φ are the projections of query and key
//                                                             (Wang et al. 2018, equation 3)
//   gaussian           -‖q - k‖² / 2σ², where f = eˢ: a Gaussian kernel. (Wang et al.'s "Gaussian",
//                      e^(q·k), is embedded_gaussian without projections.)
//   cosine             q·k / ‖q‖‖k‖
//   additive           vᵀ tanh(q + k), with q = W x and k = U c from the projections
//                                                             (Bahdanau et al. 2015, section A.1.2)
//   general            qᵀ W k                                 (Luong et al. 2015, "general")
//   luong_concat       vᵀ tanh(W [q; k]), with W (K, Kq + K)  (Luong et al. 2015, "concat")
//   concat             vᵀ [q; k], the same without tanh and W. The query's term is the same for
//                      every key, so a softmax cancels it.
#pragma once

#include "core/registry.h"
#include "nn/attention.h"

namespace heed::inline HEED_REAL {

class Similarity;

// A form of similarity.
struct SimilarityRule {
  const char* name = "";         // the word in a config
  bool is_dot_product = false;   // s = scale · q·k: the fused kernel computes it
  bool is_product = false;       // s depends on q·k, so rotary positions make it relative
  bool is_exponential = false;   // f = eˢ; otherwise f = s
  bool any_widths = false;       // queries and keys may differ in width
  bool is_sum_of_terms = false;  // s = a(q) + b(k): what a softmax keeps does not depend on q
  // The shape of the learned weight; null: there is none.
  Shape (*weight_shape)(int64_t heads, int64_t query_width, int64_t key_width) = nullptr;
  // That of a second one, inside a tanh.
  Shape (*inner_weight_shape)(int64_t heads, int64_t query_width, int64_t key_width) = nullptr;
  // The factor on q·k for heads of width K; null: 1.
  double (*scale)(const MultiHeadAttentionOptions& options, int64_t width) = nullptr;
  // q (B, H, Tq, Kq), k (B, H, Tk, Kk) → scores (B, H, Tq, Tk)
  Tensor (*scores)(const Similarity& layer, const Tensor& q, const Tensor& k) = nullptr;
};

// clang-format off
#define HEED_SIMILARITIES(entry) \
  entry(scaled_dot) \
  entry(dot) \
  entry(embedded_gaussian) \
  entry(gaussian) \
  entry(cosine) \
  entry(additive) \
  entry(general) \
  entry(luong_concat) \
  entry(concat)
// clang-format on
HEED_REGISTRY(similarities, SimilarityRule, HEED_SIMILARITIES)

enum class ScoreScale { inverse_sqrt, inverse, none, value };  // 1/√K, 1/K, 1, a constant

// s for all heads of an attention.
class Similarity : public Module {
 public:
  // For H heads, with queries of width Kq and keys of width Kk. Throws InputError for values out of
  // range, and Error if the form needs Kq = Kk and they differ.
  Similarity(const MultiHeadAttentionOptions& options, int64_t heads, int64_t query_width,
             int64_t key_width);
  // q (B, H, Tq, Kq), k (B, H, Tk, Kk) → scores (B, H, Tq, Tk)
  Tensor operator()(const Tensor& q, const Tensor& k) const;

  double scale() const { return scale_; }  // the factor on q·k
  double sigma() const { return sigma_; }  // σ of the Gaussian

  Part<Tensor> weight;        // of the rule's weight_shape, or no tensor
  Part<Tensor> inner_weight;  // of its inner_weight_shape, or no tensor

 private:
  const SimilarityRule& rule_;
  double scale_, sigma_;
};

}  // namespace heed::inline HEED_REAL
