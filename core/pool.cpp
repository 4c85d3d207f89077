#include "core/pool.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <new>
#include <sys/mman.h>
#include <utility>

#include "core/check.h"
#include "core/observer.h"
#include "core/per_thread.h"
#include "core/scope.h"

namespace heed::inline HEED_REAL {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool keeps_blocks = false;
#else
constexpr bool keeps_blocks = true;
#endif

constexpr size_t alignment = 64;
constexpr size_t mapped_from = size_t{1} << 20;  // larger blocks are mapped, in huge pages
constexpr int class_count = 4 * (sizeof(size_t) == 8 ? 40 : 25);  // of less than 2^48 or 2^32 bytes
// In a scope with shapes_only a block may be larger than any class. It is counted with its size,
// but only this many of its bytes exist.
constexpr size_t largest_untouched = (std::numeric_limits<size_t>::max() >> 4) + 1,
                 most_untouched = size_t{1} << 28;

// While a pool warms up, each class grows as needed. From then on a request whose class is empty
// takes a larger free block: up to twice the size, or up to 1 MiB.
constexpr int64_t warm_up_requests = 1 << 14;
constexpr int doubling = 4;  // classes

// Class c holds blocks of (4 + c mod 4) · 16 · 2^(c / 4) bytes: 64, 80, 96, 112, 128, 160, 192, …
int class_of(size_t bytes) {
  const size_t units = (std::max(bytes, size_t{64}) + 15) / 16;
  const int octave = std::bit_width(units) - 3;
  const size_t quarter = size_t{1} << octave;
  return 4 * octave + static_cast<int>((units + quarter - 1) / quarter) - 4;
}

size_t class_bytes(int c) { return (size_t{4} + static_cast<size_t>(c % 4)) * 16 << (c / 4); }

// Precedes every block and fills one alignment unit.
struct alignas(alignment) Header {
  Header* next = nullptr;  // in the list of free blocks
  int size_class = 0;
  bool untouched = false;  // allocated in a scope with shapes_only
};

size_t whole_bytes(const Header& block) {
  const size_t bytes = class_bytes(block.size_class);
  return sizeof(Header) +
         ((block.untouched ? std::min(bytes, most_untouched) : bytes) + alignment - 1) / alignment *
             alignment;
}

Header* system_allocate(int c) {
  const Header block{nullptr, c, scope().shapes_only};
  const size_t bytes = whole_bytes(block);
  void* memory;
  if (bytes < mapped_from) {
    memory = ::operator new (bytes, std::align_val_t{alignment}, std::nothrow);
  } else {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      memory = nullptr;
    else
      madvise(memory, bytes, block.untouched ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
  }
  check(memory != nullptr, "out of memory: the system refused {} bytes", bytes);
  return new (memory) Header(block);
}

void system_free(Header* block) noexcept {
  const size_t bytes = whole_bytes(*block);
  if (bytes < mapped_from)
    ::operator delete (block, std::align_val_t{alignment});
  else
    munmap(block, bytes);
}

struct Pool {
  std::array<Header*, class_count> free{};
  PoolStatistics statistics;

  int64_t requests = 0;

  Header* take(int size_class) {
    if (scope().shapes_only) [[unlikely]]
      return fresh(size_class);
    static const int last_shared = class_of(size_t{1} << 20);
    const bool warm = ++requests > warm_up_requests;
    const int last =
        warm ? std::max(std::min(size_class + doubling, class_count - 1), last_shared) : size_class;
    for (int c = size_class; c <= last; ++c)
      if (Header*& first = free[static_cast<size_t>(c)]) return std::exchange(first, first->next);
    return fresh(size_class);
  }

  Header* fresh(int size_class) {
    const auto bytes = static_cast<int64_t>(class_bytes(size_class));
    check(statistics.held_bytes <= std::numeric_limits<int64_t>::max() - bytes,
          "out of memory: {} bytes asked for at once", bytes);
    Header* block = system_allocate(size_class);
    ++statistics.system_calls;
    statistics.held_bytes += bytes;
    return block;
  }

  void give_back(Header* block) noexcept {
    statistics.held_bytes -= static_cast<int64_t>(class_bytes(block->size_class));
    system_free(block);
  }
};

Pool& pool() { return per_thread<Pool>(); }

}  // namespace

void* pool_allocate(size_t bytes) {
  const size_t largest = scope().shapes_only ? largest_untouched : class_bytes(class_count - 1);
  check(bytes <= largest, "out of memory: {} bytes asked for at once", bytes);
  Pool& p = pool();
  Header* block = p.take(class_of(bytes));
  const auto taken = static_cast<int64_t>(class_bytes(block->size_class));
  p.statistics.live_bytes += taken;
  p.statistics.peak_bytes = std::max(p.statistics.peak_bytes, p.statistics.live_bytes);
  if (Observer* const current = observer()) [[unlikely]]
    current->allocated(block + 1, taken);
  return block + 1;
}

void pool_free(void* memory) noexcept {
  if (!memory) return;
  Header* block = static_cast<Header*>(memory) - 1;
  Pool& p = pool();
  const auto returned = static_cast<int64_t>(class_bytes(block->size_class));
  p.statistics.live_bytes -= returned;
  if (Observer* const current = observer()) [[unlikely]]
    current->freed(memory, returned);
  if (keeps_blocks && !block->untouched)
    block->next = std::exchange(p.free[static_cast<size_t>(block->size_class)], block);
  else
    p.give_back(block);
}

PoolStatistics pool_statistics() { return pool().statistics; }

void pool_reset_peak() { pool().statistics.peak_bytes = pool().statistics.live_bytes; }

void pool_trim() {
  Pool& p = pool();
  for (Header*& first : p.free)
    while (first) p.give_back(std::exchange(first, first->next));
  p.requests = 0;
}

}  // namespace heed::inline HEED_REAL
