// How the scores of a query become weights over the m keys it may attend to. A form is a rule, in
// nn/normaliser.cpp or a file of its own, and a line of HEED_NORMALISERS. With f = s, or f = eˢ for
// the Gaussian similarities (Wang et al. 2018, section 3.1):
//
//   softmax   eˢ / Σ eˢ
//   hardmax   1 at the maximum score, divided equally among ties: softmax(s / T) as T → 0
//   sum       f / Σ f. With f = eˢ this is the softmax; otherwise a row with Σ f ≤ 1e-6 gives zeros
//   count     f / m
//   none      f
//
// A query that may attend to no key has weights and gradients of zero.
#pragma once

#include "core/mask.h"
#include "core/registry.h"
#include "core/tensor.h"

namespace heed::inline HEED_REAL {

struct NormaliserOptions;

// A form of normaliser.
struct NormaliserRule {
  const char* name = "";              // the word in a config
  bool is_softmax = false;            // for every similarity
  bool divides_by_sum = false;        // f / Σ f: the softmax if f = eˢ
  bool has_straight_through = false;  // the option straight_through applies
  // scores (B, H, Tq, Tk) → weights (B, H, Tq, Tk)
  Tensor (*weights)(const Tensor& scores, const KeepMask& mask,
                    const NormaliserOptions& options) = nullptr;
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

// The normaliser of an attention.
struct NormaliserOptions {
  const NormaliserRule* kind = &normalisers::softmax;  // which form
  bool straight_through = false;  // hardmax: backward of the softmax; otherwise a zero gradient
  bool exponential = false;       // f = eˢ
};

// scores (B, H, Tq, Tk) → weights (B, H, Tq, Tk)
Tensor attention_weights(const Tensor& scores, const KeepMask& mask,
                         const NormaliserOptions& options = {});

// For the rules: -∞ where the mask hides a key, so that its exponential is 0.
Tensor masked_scores(const Tensor& scores, const KeepMask& mask);
// For the rules: f, and 0 where the mask hides a key.
Tensor masked_f(const Tensor& scores, const KeepMask& mask, bool exponential);

// Scores are divided by a temperature, which may change during training:
//   T(step) = initial · (final / initial)^(step / steps), and final after that.
struct Temperature {
  double initial = 1;  // T(0)
  double final = 0;    // 0: constant
  int64_t steps = 0;   // training steps until the final one is reached

  double at(int64_t step) const;  // T(step)
};

}  // namespace heed::inline HEED_REAL
