#include "nn/feed_forward.h"

#include "core/ops.h"
#include "nn/current_part.h"

namespace heed::inline HEED_REAL {
namespace {

// The gate of SwiGLU is a SiLU.
Activation function_of(FeedForwardActivation activation) {
  switch (activation) {
    case FeedForwardActivation::relu:
      return Activation::relu;
    case FeedForwardActivation::gelu:
      return Activation::gelu;
    case FeedForwardActivation::gelu_tanh:
      return Activation::gelu_tanh;
    case FeedForwardActivation::silu:
    case FeedForwardActivation::swiglu:
      return Activation::silu;
  }
  throw Error("feed forward: unknown activation");
}

}  // namespace

FeedForward::FeedForward(int64_t dim, int64_t hidden, FeedForwardActivation activation,
                         double dropout, const LinearOptions& options)
    : up_(dim, hidden, options.inside()),
      gate_(activation == FeedForwardActivation::swiglu
                ? std::make_unique<Linear>(dim, hidden, options.inside())
                : nullptr),
      down_(hidden, dim, options),
      function_(function_of(activation)),
      dropout_(dropout) {
  add("up", up_);
  if (gate_) add("gate", *gate_);
  add("down", down_);
}

Tensor FeedForward::operator()(const Tensor& x) const {
  const CurrentPart here(*this);
  Tensor hidden = up_(x, function_);
  if (gate_) hidden = hidden * (*gate_)(x);
  return down_(dropout(hidden, dropout_));
}

}  // namespace heed::inline HEED_REAL
