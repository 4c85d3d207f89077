// Defines nn/linear.h.
#include "nn/linear.h"

#include "core/standard_ops.h"

namespace heed::inline HEED_REAL {

Linear::Linear(int64_t inputs, int64_t outputs, const LinearOptions& options)
    : weight(this, "weight",
             initial_weight({outputs, inputs}, options.init, options.residual_depth)),
      bias(this, "bias", options.bias ? constant_parameter({outputs}, 0) : Tensor()) {}

Linear::Linear(const Tensor& tied) : weight(this, "weight", tied), bias(this, "bias") {}

Tensor Linear::operator()(const Tensor& x, Activation function) const {
  const ModuleScope here(*this);
  return linear(x, weight, bias, function);
}

}  // namespace heed::inline HEED_REAL
