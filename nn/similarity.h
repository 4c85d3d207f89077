// How well a query fits a key: the score s = s(q, k), before any exponential.
//
//   scaled_dot         q·k / √K, or by another scale          (Vaswani et al. 2017, equation 1)
//   dot                q·k                                    (Luong et al. 2015, "dot")
//   embedded_gaussian  θ(q)·φ(k), where f = eˢ; θ and φ are the projections of query and key
//                                                             (Wang et al. 2018, equation 3)
//   gaussian           -‖q - k‖² / 2σ², where f = eˢ
//   cosine             q·k / ‖q‖‖k‖
//   additive           vᵀ tanh(q + k), with q = W x and k = U c from the projections
//                                                             (Bahdanau et al. 2015, section A.1.2)
//   general            qᵀ W k                                 (Luong et al. 2015, "general")
//   concat             vᵀ [q; k]. What q adds is the same for every key, so a softmax does not see
//                      it.
#pragma once

#include <memory>

#include "nn/init.h"
#include "nn/module.h"

namespace heed::inline HEED_REAL {

enum class SimilarityKind {
  scaled_dot,
  dot,
  embedded_gaussian,
  gaussian,
  cosine,
  additive,
  general,
  concat
};
inline constexpr const char* similarity_names[] = {"scaled_dot", "dot",    "embedded_gaussian",
                                                   "gaussian",   "cosine", "additive",
                                                   "general",    "concat"};

enum class ScoreScale { inverse_sqrt, inverse, none, value };  // 1/√K, 1/K, 1, a number

struct SimilarityOptions {
  SimilarityKind kind = SimilarityKind::scaled_dot;
  ScoreScale scale = ScoreScale::inverse_sqrt;  // of scaled_dot
  double scale_value = 1;                       // with ScoreScale::value
  double sigma = 1;                             // of gaussian
};

class Similarity : public Module {
 public:
  // Of H heads, with queries of width Kq and keys of width Kk. Throws Error where the kind needs
  // the two to be equal and they are not.
  Similarity(const SimilarityOptions& options, int64_t heads, int64_t query_width,
             int64_t key_width, const InitOptions& init = {});
  // q (B, H, Tq, Kq), k (B, H, Tk, Kk) → scores (B, H, Tq, Tk)
  Tensor operator()(const Tensor& q, const Tensor& k) const;

  // The score is scale() · q·k where it is a product of q and k as they are.
  double scale() const { return scale_; }

  // general: W (H, Kq, Kk); additive: v (H, 1, K); concat: v (H, 1, Kq + Kk); else no tensor
  Tensor weight;

 private:
  SimilarityKind kind_;
  double scale_;
  double sigma_;
};

// Whether f(q, k), which the normalisers sum, count or leave alone, is eˢ and not the score itself.
bool is_exponential(SimilarityKind kind);
// Whether the score is a product of q and k, for which rotary positions are made.
bool is_product(SimilarityKind kind);

}  // namespace heed::inline HEED_REAL
