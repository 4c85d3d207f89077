// How the scores of a query become weights over the m keys it may attend to. A form is a rule, in
// nn/forms/normaliser.cpp or a file of its own, and a line of HEED_NORMALISERS. With f = s, or f =
// eˢ for the Gaussian similarities (Wang et al. 2018, section 3.1):
//
//   softmax   eˢ / Σ eˢ
//   hardmax   1 at the maximum score, divided equally among ties: softmax(s / T) as T → 0
//   sum       f / Σ f. With f = eˢ this is the softmax. Otherwise Σ f may be negative, and a row
//             with |Σ f| ≤ 1e-6 gives zeros
//   count     f / m
//   none      f
//
// A query that may attend to no key has weights and gradients of zero.
#pragma once

#include "core/registry.h"
#include "nn/attention.h"

namespace heed::inline HEED_REAL {

// A form of normaliser.
struct NormaliserRule {
  const char* name = "";              // the word in a config
  bool is_softmax = false;            // for every similarity
  bool divides_by_sum = false;        // f / Σ f: the softmax if f = eˢ
  bool has_straight_through = false;  // the option straight_through applies
  // scores (B, H, Tq, Tk) → weights (B, H, Tq, Tk). Of the options it reads straight_through, and
  // whether the similarity has f = eˢ.
  Tensor (*weights)(const Tensor& scores, const KeepMask& mask,
                    const MultiHeadAttentionOptions& options) = nullptr;
};

// clang-format off
#define HEED_NORMALISERS(entry) \
  entry(softmax) \
  entry(hardmax) \
  entry(sum) \
  entry(count) \
  entry(none)
// clang-format on
HEED_REGISTRY(normalisers, NormaliserRule, HEED_NORMALISERS)

// The weights of an attention of these options: scores (B, H, Tq, Tk) → (B, H, Tq, Tk)
Tensor weights_of_scores(const Tensor& scores, const KeepMask& mask,
                         const MultiHeadAttentionOptions& options = {});

// For the rules: -∞ where the mask hides a key, so that its exponential is 0.
Tensor masked_scores(const Tensor& scores, const KeepMask& mask);
// For the rules: f, and 0 where the mask hides a key.
Tensor masked_f(const Tensor& scores, const KeepMask& mask, bool exponential);

}  // namespace heed::inline HEED_REAL
