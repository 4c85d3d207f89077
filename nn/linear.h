// y = x wᵀ + b,   x (…, inputs) → (…, outputs)
//
// The weight w is stored as (outputs, inputs): row o is what output o reads. Papers write x W, with
// W = wᵀ.
#pragma once

#include "core/activation.h"
#include "nn/init.h"
#include "nn/module.h"

namespace heed::inline HEED_REAL {

// Options of a linear layer.
struct LinearOptions {
  bool bias = true;            // y has b
  InitOptions init = {};       // of w; b starts at 0
  int64_t residual_depth = 0;  // see initial_weight()

  // The same for a layer that does not join the residual stream.
  LinearOptions inside() const { return {.bias = bias, .init = init}; }
};

class Linear : public Module {
 public:
  Linear(int64_t inputs, int64_t outputs, const LinearOptions& options = {});
  // Shares the weight (outputs, inputs) of another layer; without bias.
  explicit Linear(const Tensor& tied);
  // x (…, inputs) → φ(y) (…, outputs)
  Tensor operator()(const Tensor& x, Activation function = Activation::none) const;

  Part<Tensor> weight;  // (outputs, inputs)
  Part<Tensor> bias;    // (outputs), zeros at first; or no tensor
};

}  // namespace heed::inline HEED_REAL
