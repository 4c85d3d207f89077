#include "nn/mixing.h"

namespace heed::inline HEED_REAL {

void MixingOptions::fields(Fields& f) {
  static constexpr Named<Padding> paddings[] = {{"zero", Padding::zero},
                                                {"circular", Padding::circular}};
  f.choice("mixing", kind, mixings::all,
           "how positions exchange information; [model.attention] then applies to attention only: "
           "to a decoder's cross-attention and a pool of learned queries");
  f.integer("kernel_size", kernel_size, {1, 1025}, "positions that a convolution reads");
  f.choice("padding", padding, paddings, "what a convolution reads beyond the ends");
  f.integer("length", length, {1, 1 << 16}, "longest sequence of a dense layer over time");
}

}  // namespace heed::inline HEED_REAL
