// Defines memory.h for the minimal build: every block comes from the system.
#include "core/memory.h"

#include <new>

#include "core/check.h"

namespace heed::inline HEED_REAL {

constexpr std::align_val_t alignment{64};

void* pool_allocate(size_t bytes) {
  void* const block = ::operator new(bytes, alignment, std::nothrow);
  check(block != nullptr, "out of memory: the system refused {} bytes", bytes);
  return block;
}

void pool_free(void* block) noexcept { ::operator delete(block, alignment); }

}  // namespace heed::inline HEED_REAL
