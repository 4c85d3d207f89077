// Defines what layers compute only for a tap (nn/tap.h): values that their kernels never store.
#include <limits>

#include "core/scope.h"
#include "nn/feed_forward.h"
#include "nn/forms/attention.h"
#include "nn/tap.h"

namespace heed::inline HEED_REAL {

// The scores and P, by their definition, for a tap that looks at them.
Tensor MultiHeadAttention::replaced_heads(const Tensor& q, const KeyValues& kv,
                                          const KeepMask& mask) const {
  if (!Tap::wanted(*this, Site::scores) && !Tap::wanted(*this, Site::weights)) return {};
  const Tensor k = split_heads(filled(kv.keys, kv.length), heads_);
  const Tensor s =
      mul(matmul(split_heads(q, heads_), transpose(k, -1, -2)), static_cast<real>(scale_));
  const Tensor seen = tapped(*this, Site::scores, s);
  const Tensor p = softmax(masked_fill(seen, mask, -std::numeric_limits<real>::infinity()));
  const Tensor used = tapped(*this, Site::weights, p);
  if (seen.same_as(s) && used.same_as(p)) return {};
  const Tensor v = split_heads(filled(kv.values, kv.length), heads_);
  return merge_heads(matmul(heed::dropout(used, dropout_), v));
}

void FeedForward::show_preactivation(const Tensor& x) const {
  const ValueGuard no_gradients(scope().gradients, false);
  const Tensor h = up_(x);
  check(Tap::shown(*this, Site::preactivation, h).same_as(h),
        "feed-forward: a tap can see the preactivation; replace the activation, which follows it");
}

}  // namespace heed::inline HEED_REAL
