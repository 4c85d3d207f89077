#include "nn/nonlinearity.h"

#include "core/ops.h"

namespace heed::inline HEED_REAL {

Tensor apply(Nonlinearity function, const Tensor& x) {
  switch (function) {
    case Nonlinearity::none:
      return x;
    case Nonlinearity::relu:
      return relu(x);
    case Nonlinearity::gelu:
      return gelu(x);
    case Nonlinearity::gelu_tanh:
      return gelu(x, GeluForm::tanh);
    case Nonlinearity::silu:
      return silu(x);
    case Nonlinearity::tanh:
      return tanh(x);
  }
  throw Error("nonlinearity: unknown function");
}

}  // namespace heed::inline HEED_REAL
