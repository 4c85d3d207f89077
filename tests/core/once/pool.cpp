// The pool: alignment, reuse, counters.
#include "core/pool.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <pthread.h>
#include <string>
#include <thread>
#include <vector>

#include "core/autograd.h"
#include "core/check.h"
#include "core/ops.h"
#include "core/per_thread.h"

namespace heed::inline HEED_REAL {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool keeps_blocks = false;
#else
constexpr bool keeps_blocks = true;
#endif

TEST_CASE("pool: blocks are aligned, disjoint and as large as requested") {
  std::vector<std::pair<char*, size_t>> blocks;
  for (const size_t bytes : {0u, 1u, 63u, 64u, 65u, 80u, 81u, 1000u, 4096u, 70000u, 3u << 20}) {
    char* block = static_cast<char*>(pool_allocate(bytes));
    CHECK(reinterpret_cast<uintptr_t>(block) % 64 == 0);
    std::memset(block, static_cast<int>(blocks.size()), bytes);
    blocks.emplace_back(block, bytes);
  }
  for (size_t i = 0; i < blocks.size(); ++i)
    for (size_t k = 0; k < blocks[i].second; k += 13)
      REQUIRE(blocks[i].first[k] == static_cast<char>(i));
  for (const auto& [block, bytes] : blocks) pool_free(block);
  pool_free(nullptr);
}

TEST_CASE("pool: a freed block is allocated again") {
  pool_trim();
  void* block = pool_allocate(5000);
  pool_free(block);
  const int64_t calls = pool_statistics().system_calls;
  for (int i = 0; i < 100; ++i) {
    void* again = pool_allocate(4999);
    if (keeps_blocks) CHECK(again == block);
    pool_free(again);
  }
  if (keeps_blocks) CHECK(pool_statistics().system_calls == calls);
}

TEST_CASE("pool: once warm, a request takes a larger free block instead of calling the system") {
  if (!keeps_blocks) return;
  const auto takes = [](size_t free, size_t requested, int before = 1 << 14) {
    pool_trim();
    void* block = pool_allocate(free);
    for (int i = 0; i < before; ++i) pool_free(pool_allocate(48));
    pool_free(block);
    void* taken = pool_allocate(requested);
    pool_free(taken);
    return taken == block;
  };
  CHECK_FALSE(takes(1 << 20, 5000, 0));
  CHECK(takes(1 << 20, 5000));
  CHECK(takes(4 << 20, 2 << 20));
  CHECK_FALSE(takes(4 << 20, 5000));
  CHECK_FALSE(takes(4 << 20, 7 << 18));
}

TEST_CASE("pool: batches of many lengths stop calling the system") {
  if (!keeps_blocks) return;
  pool_trim();
  const auto epoch = [] {
    for (size_t length = 1; length <= 25; ++length) {
      std::vector<void*> blocks;
      for (size_t i = 1; i < 30; ++i) blocks.push_back(pool_allocate(length * i * 64));
      for (void* block : blocks) pool_free(block);
    }
  };
  epoch();
  const int64_t calls = pool_statistics().system_calls;
  epoch();
  epoch();
  CHECK(pool_statistics().system_calls == calls);
}

TEST_CASE("pool: counters") {
  const int64_t live = pool_statistics().live_bytes;
  pool_reset_peak();
  void* a = pool_allocate(1 << 20);
  void* b = pool_allocate(1 << 20);
  CHECK(pool_statistics().live_bytes >= live + (2 << 20));
  pool_free(a);
  pool_free(b);
  CHECK(pool_statistics().live_bytes == live);
  CHECK(pool_statistics().peak_bytes >= live + (2 << 20));
  CHECK(pool_statistics().peak_bytes < live + (3 << 20));
  if (keeps_blocks) CHECK(pool_statistics().held_bytes >= live + (2 << 20));
  pool_trim();
  pool_reset_peak();
  CHECK(pool_statistics().held_bytes == live);
  CHECK(pool_statistics().peak_bytes == live);
}

TEST_CASE("pool: a new thread takes over the pool of one that has ended") {
  if (!keeps_blocks) return;
  const auto work = [] {
    Tensor x = Tensor::full({3000}, 2);
    x.set_requires_grad();
    backward(sum(x * x));
    return pool_statistics().system_calls;
  };
  int64_t first = 0, second = 0;
  std::thread([&] { first = work(); }).join();
  std::thread([&] { second = work(); }).join();
  CHECK(first > 0);
  CHECK(second == first);
}

TEST_CASE("pool: a block that another thread frees goes back to its own pool") {
  pool_trim();
  const PoolStatistics before = pool_statistics();
  for (int round = 0; round < 5; ++round) {
    void* const blocks[] = {pool_allocate(5000), pool_allocate(100), pool_allocate(3 << 20)};
    const int64_t live = pool_statistics().live_bytes;
    std::thread([&] {
      const int64_t of_thread = pool_statistics().live_bytes;
      for (void* block : blocks) pool_free(block);
      CHECK(pool_statistics().live_bytes == of_thread);
    }).join();
    CHECK(live > before.live_bytes);
    CHECK(pool_statistics().live_bytes == before.live_bytes);
  }
  if (keeps_blocks) CHECK(pool_statistics().system_calls == before.system_calls + 3);
  pool_trim();
  CHECK(pool_statistics().held_bytes == before.held_bytes);
}

TEST_CASE("pool: threads hand blocks to one another") {
  constexpr size_t count = 3, rounds = 200;
  std::array<std::array<std::atomic<void*>, rounds>, count> handed{};
  std::vector<std::thread> threads;
  for (size_t number = 0; number < count; ++number)
    threads.emplace_back([&, number] {
      for (size_t i = 0; i < rounds; ++i) {
        void* const block = pool_allocate(64 * (i % 40));
        if (i % 40 > 0) std::memset(block, static_cast<int>(i), 64);
        handed[number][i] = block;
        for (std::atomic<void*>* slot = &handed[(number + 1) % count][i]; true;)
          if (void* const other = slot->exchange(nullptr)) {
            pool_free(other);
            break;
          } else {
            std::this_thread::yield();
          }
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("pool: objects of a thread may use its pool until it has ended") {
  struct Tag {};
  static std::atomic<bool> shared = false;
  struct Last {
    ~Last() {
      Tag *const own = &per_thread<Tag>(), *other = nullptr;
      std::thread([&] { other = &per_thread<Tag>(); }).join();
      shared = own == other;
    }
  };
  std::thread([] {
    thread_local Last last;
    (void)last;
    per_thread<Tag>();  // after `last`, so an object of C++ would be destroyed before it
  }).join();
  CHECK_FALSE(shared);
}

TEST_CASE("pool: destructors of other keys may use the pool of a thread that ends") {
  struct Tag {};
  static std::atomic<bool> shared = false;
  per_thread<Tag>();  // makes its key before the other one, whose destructor then runs later
  pthread_key_t later;
  REQUIRE(pthread_key_create(&later, [](void*) {
            Tag *const own = &per_thread<Tag>(), *other = nullptr;
            std::thread([&] { other = &per_thread<Tag>(); }).join();
            shared = own == other;
          }) == 0);
  std::thread([&] {
    per_thread<Tag>();
    pthread_setspecific(later, &later);
  }).join();
  pthread_key_delete(later);
  CHECK_FALSE(shared);
}

TEST_CASE("pool: a request beyond the memory of the system is an error") {
  pool_trim();
  const PoolStatistics before = pool_statistics();
  CHECK_THROWS_AS(pool_allocate(size_t{1} << 46), Error);  // more than the address space
  CHECK_THROWS_AS(pool_allocate(~size_t{0}), Error);
  CHECK_THROWS_WITH_AS(Tensor::zeros({1'000'000, 1'000'000}), doctest::Contains("out of memory: "),
                       Error);
  pool_trim();
  CHECK(pool_statistics().live_bytes == before.live_bytes);
  CHECK(pool_statistics().held_bytes == before.held_bytes);
}

// Lets the pools believe that the machine has so many MiB for what this thread takes from now on.
struct MemoryLeft {
  static inline int64_t limit = 0, held = 0;  // bytes
  static inline int questions = 0;
  AvailableMemory before;
  explicit MemoryLeft(int64_t mib) {
    pool_trim();
    limit = mib << 20;
    held = pool_statistics().held_bytes;
    questions = 0;
    before = pool_ask([] {
      ++questions;
      return static_cast<double>(limit - (pool_statistics().held_bytes - held));
    });
  }
  ~MemoryLeft() { pool_ask(before); }
};

TEST_CASE("pool: one large block must fit into the memory that is left") {
  const MemoryLeft machine(100);
  CHECK_THROWS_WITH_AS(
      pool_allocate(size_t{200} << 20),
      doctest::Contains("out of memory: 224.0 MiB asked for at once, this process can use "),
      Error);
  pool_free(pool_allocate(size_t{20} << 20));
}

TEST_CASE("pool: the error for a block says less than the block needs") {
  const MemoryLeft machine(100);
  std::string error;
  try {
    pool_free(pool_allocate(size_t{90} << 20));
  } catch (const Error& thrown) {
    error = thrown.what();
  }
  const std::string before = "out of memory: 96.0 MiB asked for at once, this process can use ";
  REQUIRE(error.starts_with(before));
  CHECK(std::stod(error.substr(before.size())) < 96);
}

TEST_CASE("pool: threads read one after another how much memory is left") {
  static std::atomic<int> readers = 0, most = 0;
  const AvailableMemory before = pool_ask([] {
    const int now = ++readers;
    if (now > most) most = now;
    for (int i = 0; i < 50; ++i) std::this_thread::yield();
    --readers;
    return std::numeric_limits<double>::max();
  });
  std::vector<std::thread> threads;
  for (int number = 0; number < 3; ++number)
    threads.emplace_back([] {
      for (int i = 0; i < 20; ++i) {
        pool_free(pool_allocate(size_t{200} << 20));
        pool_trim();
      }
    });
  for (std::thread& thread : threads) thread.join();
  pool_ask(before);
  CHECK(most == 1);
}

TEST_CASE("pool: many small blocks must fit into the memory that is left") {
  for (const size_t bytes : {size_t{100'000}, size_t{1} << 20, size_t{5} << 20}) {
    CAPTURE(bytes);
    const MemoryLeft machine(300);
    std::vector<void*> blocks;
    std::string error;
    while (error.empty() && blocks.size() < 10'000) try {
        blocks.push_back(pool_allocate(bytes));
      } catch (const Error& thrown) {
        error = thrown.what();
      }
    CHECK_MESSAGE(error.starts_with("out of memory: "), error);
    // The pools cannot know that this system counts blocks as used before they are written.
    CHECK(pool_statistics().held_bytes - MemoryLeft::held > MemoryLeft::limit / 3);
    CHECK(pool_statistics().held_bytes - MemoryLeft::held < MemoryLeft::limit);
    CHECK(MemoryLeft::questions >= 3);
    CHECK(MemoryLeft::questions <= 20);
    // Memory that is freed can be used again.
    for (void* block : blocks) pool_free(block);
    pool_free(pool_allocate(bytes));
  }
}

TEST_CASE("pool: free blocks of other sizes make room") {
  if (!keeps_blocks) return;
  const MemoryLeft machine(300);
  std::vector<void*> blocks;
  for (int i = 0; i < 110; ++i) blocks.push_back(pool_allocate(size_t{1} << 20));
  for (void* block : blocks) pool_free(block);
  CHECK(pool_statistics().held_bytes >= int64_t{110} << 20);
  pool_free(pool_allocate(size_t{224} << 20));
  CHECK(pool_statistics().held_bytes < int64_t{300} << 20);
}

TEST_CASE("pool: a warm step does not ask how much memory is left") {
  if (!keeps_blocks) return;
  const MemoryLeft machine(300);
  const auto step = [] {
    const Tensor x = Tensor::full({100, 1000}, 2).set_requires_grad();
    backward(sum(x * x));
  };
  step();
  const int asked = MemoryLeft::questions;
  CHECK(asked == 1);
  MemoryLeft::limit = 0;
  for (int i = 0; i < 300; ++i) step();
  CHECK(MemoryLeft::questions == asked);
}

TEST_CASE("pool: memory that is only counted needs none") {
  const MemoryLeft machine(0);
  ScopeGuard here;
  here->shapes_only = true;
  const Tensor x = Tensor::zeros({1'000'000, 1'000'000}).set_requires_grad();
  std::vector<Tensor> many;
  for (int i = 0; i < 100; ++i) many.push_back(x * x);
  CHECK(MemoryLeft::questions == 0);
}

}  // namespace
}  // namespace heed::inline HEED_REAL
