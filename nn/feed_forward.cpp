#include "nn/feed_forward.h"

#include "core/ops.h"

namespace heed::inline HEED_REAL {
namespace {

Tensor activate(const Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::relu:
      return relu(x);
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_tanh:
      return gelu(x, GeluForm::tanh);
    case Activation::silu:
    case Activation::swiglu:
      return silu(x);
  }
  throw Error("feed forward: unknown activation");
}

}  // namespace

FeedForward::FeedForward(int64_t dim, int64_t hidden, Activation activation, double dropout,
                         const LinearOptions& options)
    : up_(dim, hidden, options.inside()),
      gate_(activation == Activation::swiglu
                ? std::make_unique<Linear>(dim, hidden, options.inside())
                : nullptr),
      down_(hidden, dim, options),
      activation_(activation),
      dropout_(dropout) {
  add("up", up_);
  if (gate_) add("gate", *gate_);
  add("down", down_);
}

Tensor FeedForward::operator()(const Tensor& x) const {
  Tensor hidden = activate(up_(x), activation_);
  if (gate_) hidden = hidden * (*gate_)(x);
  return down_(dropout(hidden, dropout_));
}

}  // namespace heed::inline HEED_REAL
