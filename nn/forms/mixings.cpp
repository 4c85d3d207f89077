// Defines nn/forms/mixings.h, and the options of all forms.
#include "nn/forms/mixings.h"

#include "core/fields.h"

namespace heed::inline HEED_REAL {

void MixingOptions::fields(Fields& f) {
  static constexpr Named<Padding> paddings[] = {{"zero", Padding::zero},
                                                {"circular", Padding::circular}};
  f.choice(
      "mixing", kind, mixings::all,
      "how positions exchange information; the section attention then applies to attention only: "
      "to a decoder's cross-attention and a pool of learned queries");
  f.integer("kernel_size", kernel_size, {1, 1025}, "positions that a convolution reads")
      .when(kind == &mixings::convolution);
  f.choice("padding", padding, paddings, "what a convolution reads beyond the ends")
      .when(kind == &mixings::convolution);
  f.integer("length", length, {1, 1 << 16}, "longest sequence of a dense layer over time")
      .when(kind == &mixings::dense);
  f.flag("feed_forward", feed_forward, "end each layer with a feed-forward network");
  f.flag("residual", residual, "add to x what a sublayer computes; false: a chain of sublayers");
}

void check_mixing_input(const char* form, const char* reason, bool can_be_causal, const Tensor& x,
                        int64_t dim, const KeepMask& mask) {
  check(x.rank() == 3 && x.dim(2) == dim, "{}: x must have shape [B, T, {}], has {}", form, dim,
        x.shape());
  check((can_be_causal || !mask.causal) && mask.window == 0 && !mask.dense,
        "{}: {}; it supports neither {}a window nor a dense mask", form, reason,
        can_be_causal ? "" : "a causal mask nor ");
}

}  // namespace heed::inline HEED_REAL
