#include "nn/attention.h"

#include "core/ops.h"

namespace heed::inline HEED_REAL {
MultiHeadAttention::MultiHeadAttention(int64_t dim, int64_t heads, const AttentionSetup& setup)
    : query_(dim, dim, setup.linear.inside()),
      key_(setup.context_dim ? setup.context_dim : dim, dim, setup.linear.inside()),
      value_(setup.context_dim ? setup.context_dim : dim, dim, setup.linear.inside()),
      output_(dim, dim, setup.linear),
      heads_(heads),
      dropout_(setup.dropout) {
  check(heads >= 1 && dim % heads == 0,
        "multi-head attention: {} heads do not divide a width of {}", heads, dim);
  add("query", query_);
  add("key", key_);
  add("value", value_);
  add("output", output_);
}

Tensor MultiHeadAttention::operator()(const Tensor& x, const Tensor& context,
                                      const KeepMask& mask) const {
  AttentionOptions options;  // scale 1/√K
  options.mask = mask;
  options.dropout = dropout_;
  return output_(
      scaled_dot_product_attention(query_(x), key_(context), value_(context), heads_, options));
}

}  // namespace heed::inline HEED_REAL
