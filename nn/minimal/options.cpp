// Defines validate() of the options of a Transformer for the minimal build. It has no config to
// blame for a value, so it checks no ranges: nn/options.cpp does.
#include "nn/transformer.h"

namespace heed::inline HEED_REAL {

void InitOptions::validate() const {}
void NormOptions::validate() const {}
void BlockOptions::validate() const {}
void TransformerOptions::check_ranges() const {}

}  // namespace heed::inline HEED_REAL
