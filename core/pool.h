// Memory for everything that lives shorter than a training step.
//
// A freed block goes to a list of its size class (four classes to each doubling, 64-byte aligned)
// and the next allocation of that class takes it back: a step that has run twice calls the
// operating system no more. Once warm, a request that finds its own list empty takes a larger free
// block rather than call the system, so that batches of varying length settle too. One pool a
// thread: a block is freed on the thread that asked for it. In a scope with shapes_only blocks are
// counted as always, but larger ones are addresses without memory, and none is kept. Under address
// sanitizer nothing is kept, so that a use after free is seen.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/real.h"

namespace heed::inline HEED_REAL {

struct PoolStatistics {
  int64_t live_bytes = 0;    // handed out now
  int64_t peak_bytes = 0;    // the most since the last pool_reset_peak()
  int64_t held_bytes = 0;    // taken from the system, handed out or free
  int64_t system_calls = 0;  // requests that no free block could serve
};

// 64-byte aligned, contents undefined. Throws Error naming the size when the system has no more.
void* pool_allocate(size_t bytes);
void pool_free(void* block) noexcept;

PoolStatistics pool_statistics();
void pool_reset_peak();
// Returns every free block to the system; the pool is cold again.
void pool_trim();

}  // namespace heed::inline HEED_REAL
