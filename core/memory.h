// Memory for tensors and graphs. The build links one of two definitions: core/pool.cpp keeps freed
// blocks and reuses them, core/minimal/memory.cpp calls the system every time.
#pragma once

#include <cstddef>

#include "core/real.h"

namespace heed::inline HEED_REAL {

// Returns a 64-byte aligned block, contents undefined. Throws Error with the size if the system has
// not enough memory left.
void* pool_allocate(size_t bytes);
void pool_free(void* block) noexcept;

}  // namespace heed::inline HEED_REAL
