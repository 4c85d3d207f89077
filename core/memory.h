// Memory for tensors and graphs, from the system or from a pool: the build links one definition.
#pragma once

#include <cstddef>

#include "core/real.h"

namespace heed::inline HEED_REAL {

// Returns a 64-byte aligned block, contents undefined. Throws Error with the size if the system has
// not enough memory left.
void* pool_allocate(size_t bytes);
void pool_free(void* block) noexcept;

}  // namespace heed::inline HEED_REAL
