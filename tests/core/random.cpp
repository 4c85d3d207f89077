// Philox: the vectors published with it, and what is made of its words.
#include "core/random.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <vector>

#include "core/check.h"
#include "core/kernels/philox.h"
#include "core/scope.h"

namespace heed::inline HEED_REAL {
namespace {

// From kat_vectors of Random123, philox4x32-10.
TEST_CASE("philox: known answers") {
  CHECK(philox(0, {0, 0, 0, 0}) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr uint32_t ones = 0xffffffff;
  CHECK(philox(~uint64_t{0}, {ones, ones, ones, ones}) ==
        PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  // The digits of pi; the key's first word is its low half.
  CHECK(philox(0x299f31d0'a4093822, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}) ==
        PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("philox: many words at once are the words of the blocks") {
  const StreamKey stream(99, Purpose::dropout, 3, 2, 1);
  for (const int64_t blocks : {0, 1, 3, 4, 7, 8, 9, 33}) {
    std::vector<uint32_t> words(static_cast<size_t>(4 * blocks));
    kernels::philox_words(stream, 0xfffffff0 - 5, blocks, words.data());
    for (int64_t i = 0; i < 4 * blocks; ++i) {
      const uint64_t block = 0xfffffff0 - 5 + static_cast<uint64_t>(i / 4);
      CHECK(words[static_cast<size_t>(i)] == stream.block(block)[static_cast<size_t>(i % 4)]);
    }
  }
}

TEST_CASE("streams differ in every part of their name, and repeat") {
  std::set<PhiloxBlock> first_words;
  for (const uint64_t seed : {0, 1, 2})
    for (const Purpose purpose : {Purpose::initialisation, Purpose::dropout})
      for (const uint32_t step : {0, 1})
        for (const uint32_t micro_batch : {0, 1})
          for (const uint32_t call : {0, 1})
            first_words.insert(StreamKey(seed, purpose, step, micro_batch, call).block(0));
  CHECK(first_words.size() == 3 * 2 * 2 * 2 * 2);

  ScopeGuard here;
  here->seed = 4;
  here->calls = 0;
  const PhiloxBlock one = here->next_stream(Purpose::dropout).block(0);
  CHECK(here->next_stream(Purpose::dropout).block(0) != one);
  here->calls = 0;
  CHECK(here->next_stream(Purpose::dropout).block(0) == one);
}

TEST_CASE("uniform numbers fill [0, 1) evenly") {
  Random random(1, Purpose::test);
  constexpr int n = 100000, bins = 50;
  int count[bins] = {};
  double sum = 0, neighbours = 0, before = 0.5;
  for (int i = 0; i < n; ++i) {
    const double u = random.uniform();
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    ++count[static_cast<int>(u * bins)];
    sum += u;
    neighbours += (u - 0.5) * (before - 0.5);
    before = u;
  }
  double chi_squared = 0;
  for (const int c : count) chi_squared += std::pow(c - n / bins, 2) / (double{n} / bins);
  CHECK(chi_squared < 85);  // 49 degrees of freedom: one in a thousand lies above
  CHECK(chi_squared > 20);
  CHECK(std::fabs(sum / n - 0.5) < 4 * std::sqrt(1 / 12.0 / n));
  CHECK(std::fabs(neighbours / n) < 4 / 12.0 / std::sqrt(n));
}

TEST_CASE("normal numbers have the moments of the normal distribution") {
  Random random(2, Purpose::test);
  constexpr int n = 100000;
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < n; ++i) {
    const double z = random.normal();
    REQUIRE(std::isfinite(z));
    sum += z;
    squares += z * z;
    fourth += z * z * z * z;
  }
  CHECK(std::fabs(sum / n) < 4 / std::sqrt(n));
  CHECK(std::fabs(squares / n - 1) < 4 * std::sqrt(2.0 / n));
  CHECK(std::fabs(fourth / n - 3) < 4 * std::sqrt(96.0 / n));
}

TEST_CASE("whole numbers below n come equally often") {
  Random random(3, Purpose::test);
  constexpr int n = 60000;
  int count[6] = {};
  for (int i = 0; i < n; ++i) ++count[random.below(6)];
  for (const int c : count) CHECK(std::fabs(c - n / 6) < 4 * std::sqrt(n / 6.0 * 5 / 6));
  for (int i = 0; i < 10; ++i) CHECK(random.below(1) == 0);
  CHECK_THROWS_AS(random.below(0), Error);
}

}  // namespace
}  // namespace heed::inline HEED_REAL
