// Defines nn/feed_forward.h.
#include "nn/feed_forward.h"

#include "core/standard_ops.h"
#include "nn/tap.h"

namespace heed::inline HEED_REAL {

FeedForward::FeedForward(int64_t dim, int64_t hidden, FeedForwardActivation activation,
                         double dropout, const LinearOptions& options)
    : up_(this, "up", dim, hidden, options.inside()),
      gate_(this, "gate",
            activation.gated ? std::make_unique<Linear>(dim, hidden, options.inside()) : nullptr),
      down_(this, "down", hidden, dim, options),
      function_(activation.function),
      dropout_(dropout) {
  check_input(dropout >= 0 && dropout <= 0.99,
              "feed-forward: dropout: expected a number, 0 … 0.99, found {}", dropout);
}

Tensor FeedForward::operator()(const Tensor& x) const {
  const ModuleScope here(*this);
  Tensor hidden = up_(x, function_);
  if (Tap::wanted(*this, Site::preactivation)) show_preactivation(x);
  if (gate_) hidden = hidden * (*gate_)(x);
  return down_(dropout(tapped(*this, Site::activation, std::move(hidden)), dropout_));
}

}  // namespace heed::inline HEED_REAL
