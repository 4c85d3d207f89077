// Functions of one number, element by element. Where the derivative can be told from the result,
// that is what backward keeps: the operation that follows keeps it anyway.
#include "core/kernels/unary.h"

#include "core/autograd.h"
#include "core/kernels/arithmetic.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL {

// y = -x
Tensor neg(const Tensor& x) {
  Tensor y = Tensor::empty(x.shape());
  kernels::scale(x.size(), x.data(), -1, {y.mutable_data(), false});
  return record("neg", y, {x}, [](Backward& g) {
    kernels::scale(g.size(), g.dy(), -1, g.into(0));  // dx -= dy
  });
}

// y = eˣ
Tensor exp(const Tensor& x) {
  Tensor y = Tensor::empty(x.shape());
  kernels::exp_forward(x.size(), x.data(), y.mutable_data());
  return record("exp", y, {x}, [ys = saved(y, x)](Backward& g) {
    const Shape n{g.size()};
    kernels::mul(n, {g.dy(), n}, {ys.data(), n}, g.into(0));  // dx += dy · y
  });
}

// y = ln x
Tensor log(const Tensor& x) {
  Tensor y = Tensor::empty(x.shape());
  kernels::log_forward(x.size(), x.data(), y.mutable_data());
  return record("log", y, {x}, [xs = saved(x, x)](Backward& g) {
    kernels::log_backward(g.size(), g.dy(), xs.data(), g.into(0));  // dx += dy / x
  });
}

// y = √x
Tensor sqrt(const Tensor& x) {
  Tensor y = Tensor::empty(x.shape());
  kernels::sqrt_forward(x.size(), x.data(), y.mutable_data());
  return record("sqrt", y, {x}, [ys = saved(y, x)](Backward& g) {
    kernels::sqrt_backward(g.size(), g.dy(), ys.data(), g.into(0));  // dx += dy / 2y
  });
}

// y = xᵉ
Tensor pow(const Tensor& x, real exponent) {
  Tensor y = Tensor::empty(x.shape());
  kernels::pow_forward(x.size(), x.data(), exponent, y.mutable_data());
  return record("pow", y, {x}, [exponent, xs = saved(x, x)](Backward& g) {
    // dx += dy · e xᵉ⁻¹
    kernels::pow_backward(g.size(), g.dy(), xs.data(), exponent, g.into(0));
  });
}

Tensor tanh(const Tensor& x) {
  Tensor y = Tensor::empty(x.shape());
  kernels::tanh_forward(x.size(), x.data(), y.mutable_data());
  return record("tanh", y, {x}, [ys = saved(y, x)](Backward& g) {
    kernels::tanh_backward(g.size(), g.dy(), ys.data(), g.into(0));  // dx += dy · (1 - y²)
  });
}

// y = 1 / (1 + e⁻ˣ)
Tensor sigmoid(const Tensor& x) {
  Tensor y = Tensor::empty(x.shape());
  kernels::sigmoid_forward(x.size(), x.data(), y.mutable_data());
  return record("sigmoid", y, {x}, [ys = saved(y, x)](Backward& g) {
    kernels::sigmoid_backward(g.size(), g.dy(), ys.data(), g.into(0));  // dx += dy · y (1 - y)
  });
}

// y = max(x, 0)
Tensor relu(const Tensor& x) {
  Tensor y = Tensor::empty(x.shape());
  kernels::relu_forward(x.size(), x.data(), y.mutable_data());
  return record("relu", y, {x}, [ys = saved(y, x)](Backward& g) {
    kernels::relu_backward(g.size(), g.dy(), ys.data(), g.into(0));  // dx += dy where y > 0
  });
}

// exact: y = x Φ(x); tanh: y = ½ x (1 + tanh u), u = √(2/π) (x + 0.044715 x³)
Tensor gelu(const Tensor& x, GeluForm form) {
  const bool exact = form == GeluForm::exact;
  Tensor y = Tensor::empty(x.shape());
  (exact ? kernels::gelu_forward : kernels::gelu_tanh_forward)(x.size(), x.data(),
                                                               y.mutable_data());
  return record("gelu", y, {x}, [exact, xs = saved(x, x)](Backward& g) {
    if (exact)  // dx += dy · (Φ(x) + x φ(x)), φ = Φ'
      kernels::gelu_backward(g.size(), g.dy(), xs.data(), g.into(0));
    else  // dx += dy · ½ (1 + t + x (1 - t²) u'), t = tanh u
      kernels::gelu_tanh_backward(g.size(), g.dy(), xs.data(), g.into(0));
  });
}

// y = x s, s = sigmoid(x)
Tensor silu(const Tensor& x) {
  Tensor y = Tensor::empty(x.shape());
  kernels::silu_forward(x.size(), x.data(), y.mutable_data());
  return record("silu", y, {x}, [xs = saved(x, x)](Backward& g) {
    // dx += dy · s (1 + x (1 - s))
    kernels::silu_backward(g.size(), g.dy(), xs.data(), g.into(0));
  });
}

}  // namespace heed::inline HEED_REAL
