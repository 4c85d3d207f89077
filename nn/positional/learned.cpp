#include "nn/positional.h"

namespace heed::inline HEED_REAL {

// φ(t) is a row of a parameter (max_length, D); over a grid, of one parameter for each axis.
const PositionalRule positional_encodings::learned = {.name = "learned", .is_learned = true};

}  // namespace heed::inline HEED_REAL
