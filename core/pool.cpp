#include "core/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <limits>
#include <mutex>
#include <new>
#include <utility>

#include "core/check.h"
#include "core/per_thread.h"
#include "core/scope.h"
#include "core/stage_observer.h"
#include "core/system_memory.h"

namespace heed::inline HEED_REAL {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool keeps_blocks = false;
#else
constexpr bool keeps_blocks = true;
#endif

constexpr size_t alignment = 64;
constexpr size_t mapped_from = size_t{1} << 18;  // larger blocks are mapped, in huge pages
constexpr int class_count = 4 * (sizeof(size_t) == 8 ? 40 : 25);  // of less than 2^48 or 2^32 bytes
// In a scope with shapes_only a block may be larger than any class. It is counted with its size,
// but only this many of its bytes exist.
constexpr size_t largest_untouched = (std::numeric_limits<size_t>::max() >> 4) + 1,
                 max_untouched = size_t{1} << 28;

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

struct Pool;

// Returns whether blocks are only counted.
bool counts_only() { return scope().shapes_only && !pool_backs_shapes; }

// Precedes every block and fills one alignment unit.
struct alignas(alignment) Header {
  Header* next = nullptr;  // in a list of free blocks
  Pool* pool = nullptr;    // that allocated it
  int size_class = 0;
  bool untouched = false;  // allocated in a scope with shapes_only
  PoolAttachment attachment = {};
};

size_t whole_bytes(const Header& block) {
  const size_t bytes = class_bytes(block.size_class);
  return sizeof(Header) +
         ((block.untouched ? std::min(bytes, max_untouched) : bytes) + alignment - 1) / alignment *
             alignment;
}

// What the pools take from the system.
class SystemShare {
 public:
  // Returns whether the system has `bytes` left, and counts them as taken if so.
  bool take(int64_t bytes) {
    if (allowance_.fetch_sub(bytes, std::memory_order_relaxed) >= bytes) {
      held_ += bytes;
      return true;
    }
    const std::lock_guard lock(reading_);
    const double needed = static_cast<double>(bytes), left = memory_left();
    const bool fits = needed <= left;
    if (fits) held_ += bytes;
    // Without the bytes, the next request looks again.
    allowance_ = fits ? static_cast<int64_t>(std::min(read_every, left - needed)) : 0;
    return fits;
  }
  void give_back(int64_t bytes) { held_ -= bytes; }

  // Returns the bytes that the pools can still take. The system does not count those that they have
  // taken and nobody has written yet.
  double memory_left() const {
    const AvailableMemory replacement = ask_;
    const double available = replacement ? replacement() : available_memory();
    if (available == std::numeric_limits<double>::infinity()) return available;
    const double unwritten = std::max(0.0, static_cast<double>(held_.load()) - resident_memory());
    return (available - unwritten - reserve) / (1 + page_tables);
  }
  AvailableMemory ask(AvailableMemory available) {
    allowance_ = 0;
    return ask_.exchange(available);
  }

 private:
  static constexpr double read_every = 64 << 20;
  static constexpr double page_tables = 1.0 / 512;  // of Linux, for pages of 4 KiB
  static constexpr double reserve = 32 << 20;       // for what does not come from a pool

  std::atomic<int64_t> allowance_ = 0;  // may be taken before the memory left is read again
  std::atomic<int64_t> held_ = 0;
  std::atomic<AvailableMemory> ask_ = nullptr;
  std::mutex reading_;  // so that a thread knows what another has just taken
};
constinit SystemShare system_share;

// Returns null if the system refuses the memory.
Header* system_allocate(int c) {
  const Header block{.size_class = c, .untouched = counts_only()};
  const size_t bytes = whole_bytes(block);
  void* memory;
  if (bytes < mapped_from) {
    memory = ::operator new (bytes, std::align_val_t{alignment}, std::nothrow);
  } else {
    memory = map_memory(bytes, block.untouched ? Pages::small : Pages::huge);
  }
  return memory ? new (memory) Header(block) : nullptr;
}

void system_free(Header* block) noexcept {
  const size_t bytes = whole_bytes(*block);
  if (bytes < mapped_from)
    ::operator delete (block, std::align_val_t{alignment});
  else
    unmap_memory(block, bytes);
}

struct Pool {
  std::array<Header*, class_count> free{};
  PoolStatistics statistics;
  int64_t requests = 0;
  // A list of blocks of this pool that other threads have freed.
  alignas(alignment) std::atomic<Header*> freed_elsewhere = nullptr;

  Header* allocate(int size_class) {
    if (freed_elsewhere.load(std::memory_order_relaxed)) [[unlikely]]
      take_in();
    Header* const block = take(size_class);
    const auto taken = static_cast<int64_t>(class_bytes(block->size_class));
    statistics.live_bytes += taken;
    statistics.peak_bytes = std::max(statistics.peak_bytes, statistics.live_bytes);
    StageObserver::notify([&](StageObserver& o) { o.allocated(block + 1, taken); });
    return block;
  }

  // On the thread of this pool.
  void release(Header* block) noexcept {
    const auto returned = static_cast<int64_t>(class_bytes(block->size_class));
    statistics.live_bytes -= returned;
    StageObserver::notify([&](StageObserver& o) { o.freed(block + 1, returned); });
    if (keeps_blocks && !block->untouched)
      block->next = std::exchange(free[static_cast<size_t>(block->size_class)], block);
    else
      give_back(block);
  }

  // On any other thread.
  void release_elsewhere(Header* block) noexcept {
    block->next = freed_elsewhere.load(std::memory_order_relaxed);
    while (!freed_elsewhere.compare_exchange_weak(block->next, block, std::memory_order_release,
                                                  std::memory_order_relaxed)) {
    }
  }

  void take_in() noexcept {
    Header* block = freed_elsewhere.exchange(nullptr, std::memory_order_acquire);
    while (block) release(std::exchange(block, block->next));
  }

  void trim() noexcept {
    for (Header*& first : free)
      while (first) give_back(std::exchange(first, first->next));
  }

 private:
  Header* take(int size_class) {
    if (counts_only()) [[unlikely]]
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
    if (!counts_only() && !system_share.take(bytes)) {
      trim();  // free blocks of other classes may make room
      if (!system_share.take(bytes)) out_of_memory(bytes);
    }
    Header* block = system_allocate(size_class);
    if (!block && !counts_only()) system_share.give_back(bytes);
    check(block != nullptr, "out of memory: the system refused {} bytes", bytes);
    block->pool = this;
    ++statistics.system_calls;
    statistics.held_bytes += bytes;
    return block;
  }

  [[noreturn]] static void out_of_memory(int64_t bytes) {
    constexpr double mib = 1 << 20;
    throw Error(fmt::format(
        "out of memory: {:.1f} MiB asked for at once, this process can use {:.1f} MiB more",
        static_cast<double>(bytes) / mib, std::max(0.0, system_share.memory_left()) / mib));
  }

  void give_back(Header* block) noexcept {
    const auto bytes = static_cast<int64_t>(class_bytes(block->size_class));
    statistics.held_bytes -= bytes;
    if (!block->untouched) system_share.give_back(bytes);
    system_free(block);
  }
};

Pool& pool() { return per_thread<Pool>(); }

}  // namespace

void* pool_allocate(size_t bytes) {
  const size_t largest = counts_only() ? largest_untouched : class_bytes(class_count - 1);
  check(bytes <= largest, "out of memory: {} bytes asked for at once", bytes);
  return pool().allocate(class_of(bytes)) + 1;
}

void pool_free(void* memory) noexcept {
  if (!memory) return;
  Header* const block = static_cast<Header*>(memory) - 1;
  if (block->attachment.object) [[unlikely]] {
    const PoolAttachment attachment = std::exchange(block->attachment, {});
    attachment.end(attachment.object);
  }
  Pool& own = pool();
  if (block->pool == &own) [[likely]]
    own.release(block);
  else
    block->pool->release_elsewhere(block);
}

PoolAttachment& pool_attachment(void* block) {
  return (static_cast<Header*>(block) - 1)->attachment;
}

PoolStatistics pool_statistics() {
  pool().take_in();
  return pool().statistics;
}

void pool_reset_peak() { pool().statistics.peak_bytes = pool_statistics().live_bytes; }

void pool_trim() {
  Pool& p = pool();
  p.take_in();
  p.trim();
  p.requests = 0;
}

AvailableMemory pool_ask(AvailableMemory available) { return system_share.ask(available); }

}  // namespace heed::inline HEED_REAL
