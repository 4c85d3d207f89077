// Philox: the published test vectors, and the distributions derived from its words.
#include "core/random.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <vector>

#include "core/check.h"
#include "core/kernels/more_kernels.h"
#include "core/ops.h"
#include "core/scope.h"

namespace heed::inline HEED_REAL {
namespace {

// From kat_vectors of Random123, philox4x32-10.
TEST_CASE("philox: published test vectors") {
  CHECK(philox(0, {0, 0, 0, 0}) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr uint32_t ones = 0xffffffff;
  CHECK(philox(~uint64_t{0}, {ones, ones, ones, ones}) ==
        PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  // The digits of pi; the key's first word is its low half.
  CHECK(philox(0x299f31d0'a4093822, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}) ==
        PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("philox: philox_words() gives the words of the blocks") {
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

// What a seed means must not change. The numbers are those of tests/fixtures/make_random.py.
TEST_CASE("the numbers of a stream are fixed") {
  const StreamKey stream(7, Purpose::dropout, 3, 2, 1);
  Random words(stream), uniform(stream), normal(stream), below(stream), rejecting(stream);
  for (const uint32_t word : {0x69f7e551u, 0x251102aeu, 0xc835da54u, 0xa64aeee8u, 0x40bba29du,
                              0xc56634dbu, 0x77bfbf07u, 0x75c80872u, 0x58dbd081u, 0x547fbd6bu})
    CHECK(words.next() == word);
  for (const double u : {0.4139388392213732, 0.14479080913588405, 0.7820717291906476,
                         0.6495808903127909, 0.25286308606155217})
    CHECK(uniform.uniform() == u);
  for (const double z : {0.6346726240929801, -1.029763246520758, 0.10088820101762272,
                         -1.0879638180106497, -0.4452303096872407})
    CHECK(normal.normal() == doctest::Approx(z).epsilon(1e-12));
  for (const uint64_t i : {2, 0, 5, 2, 1, 6, 3, 1}) CHECK(below.below(10) == i);
  for (const uint64_t i : {5203305001598512871u, 652602775018014872u, 7444523937198049863u,
                           475317850192222391u})  // about half of all words are rejected
    CHECK(rejecting.below((uint64_t{1} << 63) + 1) == i);
}

TEST_CASE("the numbers of a purpose are fixed") {
  const struct {
    Purpose purpose;
    uint32_t words[5];
  } golden[] = {
      {Purpose::initialisation, {0x650f63d, 0xf0170cb3, 0x929e09bf, 0xebb14bb3, 0xfbb3a8ea}},
      {Purpose::shuffle, {0xb0977fd1, 0x1512ddbf, 0x2b5965c7, 0xb9e7dd6, 0xdd25ccff}},
      {Purpose::dropout, {0xc80da0ab, 0xbebcfc1e, 0x12e7c123, 0xd85038ac, 0xa135d168}},
      {Purpose::generation, {0x8063b532, 0xf1198af4, 0x56cfe974, 0x4d254f96, 0x1f999f0f}},
      {Purpose::task, {0xe358453f, 0x17435874, 0x85b1119c, 0xcb44d10f, 0x86a4ca9c}},
      {Purpose::test, {0xe9a5687e, 0x23e5c892, 0x1abde9fe, 0xfe20f3d, 0xd9817eee}}};
  for (const auto& [purpose, words] : golden) {
    Random random(1, purpose);
    for (const uint32_t word : words) CHECK(random.next() == word);
  }
}

TEST_CASE("the elements that dropout drops are fixed") {
  ScopeGuard here;
  here->training = true;
  here->seed = 5;
  here->step = 2;
  here->micro_batch = 1;
  here->calls = 0;
  const Tensor y = dropout(Tensor::full({600}, 1), 0.1);
  std::vector<int> dropped;
  for (int i = 0; i < 600; ++i)
    if (y.data()[i] == 0) dropped.push_back(i);
  CHECK(dropped == std::vector<int>{0,   4,   23,  36,  41,  52,  53,  54,  70,  73,  79,  81,
                                    101, 108, 123, 124, 137, 149, 152, 162, 163, 170, 186, 193,
                                    202, 207, 212, 225, 228, 229, 236, 260, 263, 265, 267, 273,
                                    275, 290, 298, 304, 310, 329, 335, 340, 354, 356, 406, 416,
                                    430, 457, 500, 530, 545, 549, 551, 552, 556, 557, 559, 562,
                                    566, 568, 570, 571, 575, 582, 590, 595});
}

TEST_CASE("streams with different keys differ, equal keys give equal streams") {
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

TEST_CASE("no stream is drawn twice around, inside and after a guarded block") {
  ScopeGuard outer;
  std::set<PhiloxBlock> drawn;
  const auto draw = [&drawn] { drawn.insert(scope().next_stream(Purpose::dropout).block(0)); };
  draw();
  {
    ScopeGuard here;
    draw();
    {
      ScopeGuard inner;
      draw();
      draw();
    }
    draw();
  }
  draw();
  CHECK(drawn.size() == 6);
  {
    ScopeGuard here;  // a block that counts its own draws does not set the count back
    here->seed = 9;
    here->calls = 0;
    draw();
  }
  draw();
  CHECK(drawn.size() == 8);
}

TEST_CASE("uniform: values are uniform in [0, 1)") {
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
  CHECK(chi_squared < 85);  // 49 degrees of freedom: exceeded with probability 0.001
  CHECK(chi_squared > 20);
  CHECK(std::fabs(sum / n - 0.5) < 4 * std::sqrt(1 / 12.0 / n));
  CHECK(std::fabs(neighbours / n) < 4 / 12.0 / std::sqrt(n));
}

TEST_CASE("normal: values have the moments of the normal distribution") {
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

TEST_CASE("below(n): all integers are equally frequent") {
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
