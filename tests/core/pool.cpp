// The pool: alignment, reuse, counters.
#include "core/pool.h"

#include <doctest/doctest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "core/autograd.h"
#include "core/check.h"
#include "core/ops.h"

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

TEST_CASE("pool: a request beyond the memory of the system is an error") {
  const PoolStatistics before = pool_statistics();
  CHECK_THROWS_AS(pool_allocate(size_t{1} << 46), Error);  // more than the address space
  CHECK_THROWS_AS(pool_allocate(~size_t{0}), Error);
  CHECK(pool_statistics().live_bytes == before.live_bytes);
  CHECK(pool_statistics().held_bytes == before.held_bytes);
}

}  // namespace
}  // namespace heed::inline HEED_REAL
