// Defines for the minimal build what nn/options.cpp and nn/taps.cpp define. It has no config to
// blame for a value, so it checks no ranges, and nobody looks inside, so it shows nothing.
#include "nn/transformer.h"

namespace heed::inline HEED_REAL {

void InitOptions::validate() const {}
void NormOptions::validate() const {}
void BlockOptions::validate() const {}
void TransformerOptions::check_ranges() const {}

void FeedForward::show_preactivation(const Tensor&) const {}
Tensor MultiHeadAttention::replaced_heads(const Tensor&, const KeyValues&, const KeepMask&) const {
  return {};
}
Tensor MultiHeadAttention::replaced_output(const Tensor&) const { return {}; }
Tensor Norm::replaced(const Tensor&) const { return {}; }

}  // namespace heed::inline HEED_REAL
