// The tile instructions of the processor: Intel's Advanced Matrix Extensions (AMX).
#pragma once

#include "core/kernels/bfloat16/tile_product.h"

namespace heed::inline HEED_REAL::kernels {

// Use these only if the processor has AMX and AVX-512 and the operating system permits the use of
// AMX, which tile_kernels() in bfloat16.h checks.
extern const TileKernels amx_kernels;

}  // namespace heed::inline HEED_REAL::kernels
