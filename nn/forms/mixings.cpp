// Defines nn/forms/mixings.h, and attention as a form.
#include "nn/forms/mixings.h"

#include "nn/forms/attention.h"
#include "nn/forms/parts.h"

namespace heed::inline HEED_REAL {

void MixingOptions::fields(Fields& f) {
  static constexpr Named<Padding> paddings[] = {{"zero", Padding::zero},
                                                {"circular", Padding::circular}};
  f.choice(
      "mixing", kind, mixings::all,
      "how positions exchange information; the section attention then applies to attention only: "
      "to a decoder's cross-attention and a pool of learned queries");
  f.integer("kernel_size", kernel_size, {1, 1025}, "positions that a convolution reads");
  f.choice("padding", padding, paddings, "what a convolution reads beyond the ends");
  f.integer("length", length, {1, 1 << 16}, "longest sequence of a dense layer over time");
}

void check_mixing_input(const char* form, const char* reason, bool can_be_causal, const Tensor& x,
                        int64_t dim, const KeepMask& mask) {
  check(x.rank() == 3 && x.dim(2) == dim, "{}: x must have shape [B, T, {}], has {}", form, dim,
        x.shape());
  check((can_be_causal || !mask.causal) && mask.window == 0 && !mask.dense,
        "{}: {}; it supports neither {}a window nor a dense mask", form, reason,
        can_be_causal ? "" : "a causal mask nor ");
}

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
