// Replaces the memory pool (core/pool.h) in a learner's program, which is compiled with the address
// sanitizer: every block has exactly the bytes that were asked for, so that an access before or
// after them is found, and is filled with NaN, so that an element that was never written shows.
#include <algorithm>
#include <cstring>
#include <new>
#include <sanitizer/asan_interface.h>

#include "core/pool.h"

namespace heed::inline HEED_REAL {
namespace {

constexpr size_t header_bytes = 64;  // holds the size; blocks are aligned to it
constexpr std::align_val_t alignment{header_bytes};
PoolStatistics statistics;

}  // namespace

void* pool_allocate(size_t bytes) {
  char* const header = static_cast<char*>(::operator new(header_bytes + bytes, alignment));
  std::memcpy(header, &bytes, sizeof bytes);
  ASAN_POISON_MEMORY_REGION(header, header_bytes);
  statistics.live_bytes += static_cast<int64_t>(bytes);
  statistics.peak_bytes = std::max(statistics.peak_bytes, statistics.live_bytes);
  return std::memset(header + header_bytes, 0xff, bytes);
}

void pool_free(void* memory) noexcept {
  if (!memory) return;
  char* const header = static_cast<char*>(memory) - header_bytes;
  ASAN_UNPOISON_MEMORY_REGION(header, header_bytes);
  size_t bytes = 0;
  std::memcpy(&bytes, header, sizeof bytes);
  statistics.live_bytes -= static_cast<int64_t>(bytes);
  ::operator delete(header, alignment);
}

PoolStatistics pool_statistics() { return statistics; }

}  // namespace heed::inline HEED_REAL
