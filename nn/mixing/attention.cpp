#include "nn/forms/attention.h"

#include "nn/forms/parts.h"

namespace heed::inline HEED_REAL {

const MixingRule mixings::attention = {
    .name = "attention",
    .is_attention = true,
    .can_be_causal = true,
    .make = [](const FormOptions& o, const LinearOptions& linear) -> std::unique_ptr<Mixing> {
      return make_attention(o.dim, o.heads,
                            AttentionSetup{.dropout = o.attention_dropout,
                                           .linear = linear,
                                           .form = o.attention,
                                           .positional = o.positional,
                                           .grid = o.grid});
    },
    .validate = [](const FormOptions& o) { o.attention.validate(o.dim, o.heads, o.dim, o.dim); }};

}  // namespace heed::inline HEED_REAL
