// The tile instructions of the processor: Intel's Advanced Matrix Extensions (AMX).
#pragma once

#include "core/kernels/bfloat16/tile_product.h"

namespace heed::inline HEED_REAL::kernels {

// To be used only where the processor has AMX and AVX-512, and the system lends AMX to the process:
// tile_kernels() in bfloat16.h knows.
extern const TileKernels amx_kernels;

}  // namespace heed::inline HEED_REAL::kernels
