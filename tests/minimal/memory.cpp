// The definition of memory that only the minimal build links (core/minimal).
#include "core/memory.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <limits>

#include "core/check.h"

namespace heed {
namespace {

TEST_CASE("minimal memory: blocks are aligned and as large as requested") {
  for (const size_t bytes : {0u, 1u, 65u, 70000u, 3u << 20}) {
    void* const block = pool_allocate(bytes);
    CHECK(reinterpret_cast<uintptr_t>(block) % 64 == 0);
    std::memset(block, 1, bytes);
    pool_free(block);
  }
  pool_free(nullptr);
}

TEST_CASE("minimal memory: what the system refuses is an Error with the size") {
  const size_t bytes = std::numeric_limits<size_t>::max() / 4;
  CHECK_THROWS_WITH_AS(pool_allocate(bytes),
                       "out of memory: the system refused 4611686018427387903 bytes", Error);
}

}  // namespace
}  // namespace heed
