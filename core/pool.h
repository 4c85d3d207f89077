// A memory pool for everything that lives shorter than a training step.
//
// A freed block goes to the free list of its size class (four classes per doubling, 64-byte
// aligned), and the next allocation of that class reuses it. After two steps of equal shapes the
// pool no longer calls the operating system. Once warm, a request whose free list is empty takes a
// larger free block instead, so that batches of varying length need no system calls either. Each
// thread has its own pool: a block must be freed on the thread that allocated it. Under the address
// sanitizer freed blocks are not kept, so that a use after free is detected. In a scope with
// shapes_only, blocks are counted as usual, but large ones are addresses without memory, and none
// is kept.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/real.h"

namespace heed::inline HEED_REAL {

struct PoolStatistics {
  int64_t live_bytes = 0;    // allocated now
  int64_t peak_bytes = 0;    // maximum of live_bytes since the last pool_reset_peak()
  int64_t held_bytes = 0;    // obtained from the system, allocated or free
  int64_t system_calls = 0;  // requests that no free block could serve
};

// Returns a 64-byte aligned block, contents undefined. Throws Error with the size if the system is
// out of memory.
void* pool_allocate(size_t bytes);
void pool_free(void* block) noexcept;

PoolStatistics pool_statistics();
void pool_reset_peak();
// Returns every free block to the system; the pool is cold again.
void pool_trim();

}  // namespace heed::inline HEED_REAL
