// The definitions of memory and loops that only the minimal build links (core/minimal).
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "core/check.h"
#include "core/memory.h"
#include "core/parallel_for.h"

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

TEST_CASE("minimal loops: all indices in order, in chunks; none in a scope with shapes_only") {
  std::vector<int64_t> seen;
  const auto see = [&](int64_t first, int64_t last) {
    CHECK(last - first <= 3);
    for (int64_t i = first; i < last; ++i) seen.push_back(i);
  };
  parallel_for(8, 3, see);
  CHECK(seen == std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7});
  ScopeGuard here;
  here->shapes_only = true;
  parallel_for(8, 3, see);
  CHECK(seen.size() == 8);
}

}  // namespace
}  // namespace heed
