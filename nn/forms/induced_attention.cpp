#include "nn/forms/induced_attention.h"

#include "nn/forms/attention.h"
#include "nn/forms/mixings.h"

namespace heed::inline HEED_REAL {
namespace {

// Of the attention that does not join the residual stream.
MultiHeadAttentionOptions inside(MultiHeadAttentionOptions options) {
  options.linear = options.linear.inside();
  return options;
}

}  // namespace

InducedAttention::InducedAttention(int64_t queries, int64_t dim, int64_t heads,
                                   const MultiHeadAttentionOptions& options)
    : induced_(this, "induced", queries, dim, heads, inside(options)),
      attention_(this, "attention", make_attention(dim, heads, options)) {}

Tensor InducedAttention::operator()(const Tensor& x, const SequenceContext& sequence) const {
  const ModuleScope here(*this);
  check_mixing_input("induced attention", "its queries have no position", false, x,
                     induced_.queries.dim(1), sequence.mask);
  return attention_->across(x, induced_(x, sequence.mask), {});
}

const MixingRule mixings::induced_attention = {
    .name = "induced_attention",
    .attends_across = true,
    .make = [](const ModelOptions& o, const LinearOptions& linear) -> std::unique_ptr<Mixing> {
      MultiHeadAttentionOptions options = o.attention.across(0);
      options.dropout = o.attention_dropout;
      options.linear = linear;
      return std::make_unique<InducedAttention>(o.mixing.induced_queries, o.dim, o.heads, options);
    },
    .validate =
        [](const ModelOptions& o) { validate_attention(o.attention.across(0), o.dim, o.heads); }};

}  // namespace heed::inline HEED_REAL
