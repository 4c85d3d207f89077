// There are no bfloat16 products here: every precision is `highest`.
#include "core/kernels/bfloat16/bfloat16.h"

namespace heed::inline HEED_REAL::kernels {

const TileKernels* tile_kernels() { return nullptr; }

}  // namespace heed::inline HEED_REAL::kernels
