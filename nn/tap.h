// Looking inside a model. While a Tap exists, the layers that its thread computes show it the
// values that their definitions name, and continue with what the tap returns instead:
//
//   struct WithoutHead final : Tap {
//     bool wants(const Module&, Site site) override { return site == Site::heads; }
//     Tensor see(const Module& layer, Site, const Tensor& z) override { return … ; }
//   };
//   WithoutHead tap;  // until the block ends
//   model.logits(inputs);
//
// A tap that only looks changes no bit of a result, except that Model::loss() computes the logits
// for a tap that wants them, and then is equal up to rounding. Without a tap, a site costs one
// branch: nothing is computed, stored or allocated.
#pragma once

#include "core/scope.h"
#include "nn/module.h"

namespace heed::inline HEED_REAL {

// The values that can be seen, and the layer that shows each.
enum class Site {
  tokens,    // InputEmbedding: tokens or features, without positions (B, T, token width)
  embedded,  // InputEmbedding: with positions, the stream before all sublayers (B, T, D)
  queries,
  keys,
  values,   // attention: Q, K and V, heads side by side (B, T, H·K)
  scores,   // attention: before the mask (B, H, Tq, Tk); computed only if wanted, as weights
  weights,  // attention: P, before dropout (B, H, Tq, Tk)
  heads,    // attention: [P₁ V₁; …; P_H V_H], before Wo (B, Tq, H·K)
  head_outputs,  // attention: Pₕ Vₕ Woₕᵀ, which y adds up, with the bias; if wanted (B, H, Tq, D)
  preactivation,  // feed-forward: x W₁ᵀ + b₁ (B, T, F); if wanted; cannot be replaced
  activation,     // feed-forward: what W₂ reads (B, T, F)
  scale,          // a norm, but none: √(var(x) + ε) or √(mean(x²) + ε); if wanted (B, T, 1)
  normalised,     // a norm: its output (B, T, D)
  sublayer,       // the norm of a sublayer: what is added to the stream (B, T, D)
  stream,         // the norm of a sublayer: the residual stream after it (B, T, D)
  logits,         // the head of a model (B, T, vocab), or (B, C) of C classes
};

// Taps nest per thread; only the innermost sees.
class Tap {
 public:
  Tap() : guard_(current_, this) {}
  virtual ~Tap() = default;
  virtual bool wants(const Module& layer, Site site) = 0;  // see() is called
  // Returns what the layer continues with, of the same shape; no tensor: with `value` itself.
  virtual Tensor see(const Module& layer, Site site, const Tensor& value) = 0;

  static bool wanted(const Module& layer, Site site) {  // by the innermost tap
    return current_ && current_->wants(layer, site);
  }
  // What see() of the innermost tap returns, or `value`. Throws Error for another shape.
  static Tensor shown(const Module& layer, Site site, const Tensor& value) {
    const Tensor other = current_->see(layer, site, value);
    if (!other) return value;
    check(other.shape() == value.shape(), "tap: expected a value of shape {}, found {}",
          value.shape(), other.shape());
    return other;
  }

 private:
  static inline constinit thread_local Tap* current_ = nullptr;
  ValueGuard<Tap*> guard_;
};

// Returns what the layer continues with at this site.
inline Tensor tapped(const Module& layer, Site site, Tensor value) {
  return Tap::wanted(layer, site) ? Tap::shown(layer, site, value) : value;
}

}  // namespace heed::inline HEED_REAL
