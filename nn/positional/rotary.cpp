#include "nn/positional.h"

namespace heed::inline HEED_REAL {

// Su et al. 2021, "RoFormer", equations 14 to 16: see rotary() in core/standard_ops.h.
const PositionalRule positional_encodings::rotary = {
    .name = "rotary",
    .rotate = [](const Tensor& x, int64_t heads, int64_t first, const PositionalOptions& o) {
      return heed::rotary(x, heads, {o.layout, o.base, first});
    }};

}  // namespace heed::inline HEED_REAL
