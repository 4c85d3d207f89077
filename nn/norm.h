// Brings each vector to the same size, then scales and shifts it by learned numbers w and b. The
// product ∘ is element by element.
//
//   y = (x - mean(x)) / √(var(x) + ε) ∘ w + b    LayerNorm (Ba, Kiros & Hinton 2016)
//   y = x / √(mean(x²) + ε) ∘ w                  RMSNorm (Zhang & Sennrich 2019)
#pragma once

#include "nn/module.h"

namespace heed::inline HEED_REAL {

enum class NormKind { layer, rms, none };  // LayerNorm, RMSNorm, y = x

// Options of a norm. The defaults are PyTorch's.
struct NormOptions {
  NormKind kind = NormKind::layer;
  double epsilon = 1e-5;  // ε
  bool bias = true;       // of LayerNorm; RMSNorm has none

  void fields(Fields& f);  // kind and epsilon
  void validate() const;   // throws InputError for an epsilon out of range
};

class Norm : public Module {
 public:
  // Throws InputError for an epsilon out of range.
  explicit Norm(int64_t dim, const NormOptions& options = {});
  // x (…, dim) → (…, dim)
  Tensor operator()(const Tensor& x) const;

  Part<Tensor> weight;  // (dim), ones at first; or no tensor
  Part<Tensor> bias;    // (dim), zeros at first; or no tensor

 private:
  Tensor replaced(const Tensor& x) const;  // y if a tap (nn/tap.h) replaces the scale

  NormKind kind_;
  real epsilon_;
};

}  // namespace heed::inline HEED_REAL
