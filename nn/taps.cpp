// Defines what layers compute only for a tap (nn/tap.h): values that their kernels never store.
#include <algorithm>

#include "core/ops.h"
#include "core/scope.h"
#include "nn/feed_forward.h"
#include "nn/forms/attention.h"
#include "nn/norm.h"
#include "nn/tap.h"

namespace heed::inline HEED_REAL {

Tensor MultiHeadAttention::replaced_output(const Tensor& z) const {
  if (options_.combine == Combine::max || !Tap::wanted(*this, Site::head_outputs)) return {};
  return replaced_sum_of_heads(*this, z, head_widths(options_, dim_, heads_).value,
                               output_ ? output_->bias : Tensor(), [&](const Tensor& alone) {
                                 return output_ ? linear(alone, output_->weight) : combined(alone);
                               });
}

Tensor replaced_sum_of_heads(const Module& layer, const Tensor& z, std::span<const int64_t> widths,
                             const Tensor& bias,
                             const std::function<Tensor(const Tensor&)>& output) {
  std::vector<Tensor> parts;
  int64_t first = 0;
  for (const int64_t width : widths) {
    Tensor columns = Tensor::zeros({z.dim(-1)});
    std::fill_n(columns.mutable_data() + first, width, real{1});
    parts.push_back(output(z * columns));
    first += width;
  }
  const Tensor each = stack(parts, 1);
  const Tensor used = tapped(layer, Site::head_outputs, each);
  if (used.same_as(each)) return {};
  return bias ? sum(used, {1}) + bias : sum(used, {1});
}

// The scale by its definition, for a tap that looks at it.
Tensor Norm::replaced(const Tensor& x) const {
  if (!Tap::wanted(*this, Site::scale)) return {};
  const Tensor c = kind_ == NormKind::layer ? x - mean(x, {-1}, true) : x;
  const Tensor s = sqrt(mean(c * c, {-1}, true) + epsilon_);
  const Tensor used = tapped(*this, Site::scale, s);
  if (used.same_as(s)) return {};
  return bias ? c / used * weight + bias : c / used * weight;
}

void FeedForward::show_preactivation(const Tensor& x) const {
  const ValueGuard no_gradients(scope().gradients, false);
  const Tensor h = up_(x);
  check(Tap::shown(*this, Site::preactivation, h).same_as(h),
        "feed-forward: a tap can see the preactivation; replace the activation, which follows it");
}

}  // namespace heed::inline HEED_REAL
