// How scores become weights, over the m keys that a query may attend to. With f = s, or f = eˢ for
// the Gaussian similarities (Wang et al. 2018, section 3.1):
//
//   softmax   eˢ / Σ eˢ
//   hardmax   1 at the greatest score, shared equally by ties: the limit T → 0 of softmax(s / T)
//   sum       f / Σ f. With f = eˢ this *is* the softmax; else a row of sum ≤ 1e-6 gives zeros
//   count     f / m
//   none      f
//
// A query that may attend to no key gets weights, and gradients, of zero.
#pragma once

#include "core/mask.h"
#include "core/tensor.h"

namespace heed::inline HEED_REAL {

enum class NormaliserKind { softmax, hardmax, sum, count, none };
inline constexpr const char* normaliser_names[] = {"softmax", "hardmax", "sum", "count", "none"};

struct NormaliserOptions {
  NormaliserKind kind = NormaliserKind::softmax;
  bool straight_through = false;  // hardmax: backward as if it were the softmax, else zero
  bool exponential = false;       // f = eˢ
};

// scores (B, H, Tq, Tk) → weights (B, H, Tq, Tk)
Tensor attention_weights(const Tensor& scores, const KeepMask& mask,
                         const NormaliserOptions& options = {});

// Scores are divided by a temperature, which may fall (or rise) as training goes on:
//   T(step) = initial · (final / initial)^(step / steps), and final from there on.
struct Temperature {
  double initial = 1;
  double final = 0;   // 0: no change
  int64_t steps = 0;  // of training, until the final one is reached

  double at(int64_t step) const;
};

}  // namespace heed::inline HEED_REAL
