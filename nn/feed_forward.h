// Each position by itself: wider, φ, narrower again (Vaswani et al. 2017, section 3.3). The hidden
// layer has F columns: x (…, D), W₁ and W₃ (F, D), W₂ (D, F) → y (…, D).
//
//   y = φ(x W₁ᵀ + b₁) W₂ᵀ + b₂
//   y = (silu(x W₁ᵀ + b₁) ∘ (x W₃ᵀ + b₃)) W₂ᵀ + b₂    swiglu, with a gate (Shazeer 2020, eq. 6)
#pragma once

#include <memory>

#include "core/activation.h"
#include "nn/linear.h"

namespace heed::inline HEED_REAL {

// Any activation, or swiglu: silu with a gate.
struct FeedForwardActivation {
  Activation function;  // φ
  bool gated = false;   // with W₃

  constexpr FeedForwardActivation(Activation function_, bool gated_ = false)
      : function(function_), gated(gated_) {}
  bool operator==(const FeedForwardActivation&) const = default;
};
inline constexpr FeedForwardActivation swiglu{Activation::silu, true};  // the second formula

class FeedForward : public Module {
 public:
  // `linear`: options of all matrices; the last joins the residual stream. Throws InputError for a
  // dropout out of range.
  FeedForward(int64_t dim, int64_t hidden, FeedForwardActivation activation = Activation::relu,
              double dropout = 0, const LinearOptions& linear = {});
  // x (…, dim) → (…, dim)
  Tensor operator()(const Tensor& x) const;

 private:
  void show_preactivation(const Tensor& x) const;  // to a tap (nn/tap.h)

  Part<Linear> up_;                     // W₁
  Part<std::unique_ptr<Linear>> gate_;  // W₃: of swiglu only
  Part<Linear> down_;                   // W₂
  Activation function_;                 // φ
  double dropout_;                      // of the hidden activations
};

}  // namespace heed::inline HEED_REAL
