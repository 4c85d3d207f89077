#include "core/precision.h"

#include "core/kernels/bfloat16/bfloat16.h"
#include "core/kernels/bfloat16/tile_product.h"

namespace heed::inline HEED_REAL {

Precision effective_precision(Precision requested) {
  const kernels::TileKernels* const tiles = kernels::tile_kernels();
  // `high` computes three products.
  if (!tiles || (requested == Precision::high && tiles->rate <= 3)) return Precision::highest;
  return requested;
}

}  // namespace heed::inline HEED_REAL
