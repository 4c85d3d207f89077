// Attention does not know the order of its inputs; these vectors tell it. The vector p(t) is added
// to that of the token at position t (Vaswani et al. 2017, section 3.5). Rotary positions act
// inside attention instead (nn/attention.h).
#pragma once

#include "core/lazy.h"
#include "nn/module.h"

namespace heed::inline HEED_REAL {

class Positions : public Module {
 public:
  // x (B, T, D) at the positions first … first + T - 1 → (B, T, D). Here no positions: x itself.
  virtual Tensor operator()(const Tensor& x, int64_t first = 0) const;
};

// p(t) = [sin ω₀t, cos ω₀t, sin ω₁t, cos ω₁t, …],  ωₖ = 10000^(-2k/D). The product p(s)·p(t) =
// Σₖ cos ωₖ(s - t) depends only on the distance. An odd width ends with a sine.
class SinusoidalPositions : public Positions {
 public:
  Tensor operator()(const Tensor& x, int64_t first = 0) const override;

 private:
  Lazy<Tensor> table_;  // (positions, D), for at least as many as were needed so far
};

// p(t) is row t of a parameter.
class LearnedPositions : public Positions {
 public:
  // Rows start as N(0, std²).
  LearnedPositions(int64_t max_length, int64_t dim, double std);
  // Throws Error if the last position exceeds max_length.
  Tensor operator()(const Tensor& x, int64_t first = 0) const override;

  Part<Tensor> weight;  // (max_length, D)
};

}  // namespace heed::inline HEED_REAL
