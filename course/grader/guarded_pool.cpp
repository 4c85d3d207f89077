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

constexpr std::align_val_t alignment{64};
PoolStatistics statistics;

// Precedes every block. Only the library, which is compiled without the sanitizer, may read it.
struct alignas(64) Header {
  size_t bytes;
  PoolAttachment attachment = {};
};

Header* header_of(void* memory) { return static_cast<Header*>(memory) - 1; }

}  // namespace

void* pool_allocate(size_t bytes) {
  void* const memory = ::operator new(sizeof(Header) + bytes, alignment);
  Header* const header = new (memory) Header{bytes};
  ASAN_POISON_MEMORY_REGION(header, sizeof(Header));
  statistics.live_bytes += static_cast<int64_t>(bytes);
  statistics.peak_bytes = std::max(statistics.peak_bytes, statistics.live_bytes);
  return std::memset(static_cast<void*>(header + 1), 0xff, bytes);
}

PoolAttachment& pool_attachment(void* memory) { return header_of(memory)->attachment; }

void pool_free(void* memory) noexcept {
  if (!memory) return;
  Header* const header = header_of(memory);
  ASAN_UNPOISON_MEMORY_REGION(header, sizeof(Header));
  if (const auto [object, end] = header->attachment; object) end(object);
  statistics.live_bytes -= static_cast<int64_t>(header->bytes);
  ::operator delete(header, alignment);
}

PoolStatistics pool_statistics() { return statistics; }

}  // namespace heed::inline HEED_REAL
