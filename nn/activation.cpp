#include "nn/activation.h"

#include "core/ops.h"

namespace heed::inline HEED_REAL {

Tensor apply(Activation function, const Tensor& x) {
  switch (function) {
    case Activation::none:
      return x;
    case Activation::relu:
      return relu(x);
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_tanh:
      return gelu(x, GeluForm::tanh);
    case Activation::silu:
      return silu(x);
    case Activation::tanh:
      return tanh(x);
  }
  throw Error("nonlinearity: unknown function");
}

}  // namespace heed::inline HEED_REAL
