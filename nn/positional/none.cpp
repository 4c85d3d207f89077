#include "nn/positional.h"

namespace heed::inline HEED_REAL {

const PositionalRule positional_encodings::none = {.name = "none"};

}  // namespace heed::inline HEED_REAL
