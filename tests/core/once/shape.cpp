// Shapes, arrays of ids, masks.
#include "core/shape.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <vector>

#include "core/ids.h"
#include "core/mask.h"
#include "core/pool.h"

namespace heed::inline HEED_REAL {
namespace {

TEST_CASE("shape: axes, sizes, text") {
  const Shape s{2, 3, 4};
  CHECK(s.rank() == 3);
  CHECK(s.size() == 24);
  CHECK(s[-1] == 4);
  CHECK(s[0] == 2);
  CHECK(s.span_size(1, 3) == 12);
  CHECK(s.span_size(3, 3) == 1);
  CHECK(fmt::format("{} {} {}", s, Shape{}, Shape{0}) == "[2, 3, 4] [] [0]");
  CHECK(Shape{}.size() == 1);
  CHECK(Shape{5, 0, 2}.size() == 0);
  CHECK_THROWS_WITH_AS(s[3], "axis 3 does not exist in shape [2, 3, 4]", Error);
  CHECK_THROWS_AS(s[-4], Error);
  CHECK_THROWS_AS(Shape{}[0], Error);
}

TEST_CASE("shape: with, without, inserted") {
  const Shape s{2, 3, 4};
  CHECK(s.with(1, 7) == Shape{2, 7, 4});
  CHECK(s.with_last(9) == Shape{2, 3, 9});
  CHECK(s.without(0) == Shape{3, 4});
  CHECK(s.without(-1) == Shape{2, 3});
  CHECK(s.inserted(0, 1) == Shape{1, 2, 3, 4});
  CHECK(s.inserted(3, 1) == Shape{2, 3, 4, 1});
  CHECK(s.inserted(-1, 1) == Shape{2, 3, 4, 1});
  CHECK_FALSE(s == Shape{2, 3});
  CHECK_FALSE(s == Shape{2, 3, 5});
  CHECK_THROWS_AS(s.inserted(4, 1), Error);
  CHECK_THROWS_AS((Shape{1, 1, 1, 1, 1, 1}.inserted(0, 1)), Error);
}

TEST_CASE("shape: invalid shapes are rejected") {
  CHECK_THROWS_AS((Shape{1, 2, 3, 4, 5, 6, 7}), Error);
  CHECK_THROWS_AS(Shape{-1}, Error);
  CHECK_THROWS_AS((Shape{int64_t{1} << 31, int64_t{1} << 31}), Error);
  CHECK_THROWS_AS((Shape{0, int64_t{1} << 31, int64_t{1} << 31}), Error);  // for any of its parts
  CHECK(Shape{Shape::max_size}.size() == Shape::max_size);
}

TEST_CASE("shape: broadcasting") {
  CHECK(broadcast("op", {2, 3}, {3}) == Shape{2, 3});
  CHECK(broadcast("op", {3}, {2, 1}) == Shape{2, 3});
  CHECK(broadcast("op", {}, {2, 1}) == Shape{2, 1});
  CHECK(broadcast("op", {0, 3}, {1, 3}) == Shape{0, 3});
  CHECK(broadcast("op", {4, 1, 3}, {5, 1}) == Shape{4, 5, 3});
  CHECK_THROWS_WITH_AS(broadcast("op", {2, 3}, {2}),
                       "op: shapes [2, 3] and [2] do not broadcast: aligned at the last axis, two "
                       "lengths must be equal or one of them 1",
                       Error);
  CHECK_THROWS_AS(broadcast("op", {0}, {2}), Error);
  CHECK(axis_of("op", {2, 3}, -2) == 0);
  CHECK_THROWS_WITH_AS(axis_of("op", {2, 3}, 2), "op: axis 2 does not exist in shape [2, 3]",
                       Error);
}

TEST_CASE("ids: arrays, views, lifetime") {
  const int64_t live = pool_statistics().live_bytes;
  {
    Ids view;
    {
      Ids ids = Ids::from({2, 3}, {1, 2, 3, 4, 5, 6});
      CHECK(ids.size() == 6);
      CHECK(ids.dim(-1) == 3);
      CHECK(ids[4] == 5);
      view = ids.reshape({3, 2});
      ids.mutable_data()[0] = 9;
    }
    CHECK(view[0] == 9);  // shared, and kept alive
    CHECK(view.reshape({6}).shape() == Shape{6});
    CHECK_THROWS_AS(view.reshape({4}), Error);
  }
  CHECK(pool_statistics().live_bytes == live);
  CHECK(Ids().size() == 0);
  CHECK_FALSE(static_cast<bool>(Ids()));
  CHECK(Ids::full({2}, 7)[1] == 7);
  CHECK_THROWS_AS(Ids::from({2}, {1}), Error);
  CHECK_THROWS_AS(Ids().reshape({0}), Error);
}

// Every combination of the structured parts, against their definition one by one.
TEST_CASE("ids: from integers of any type") {
  const Ids ids = Ids::from({3}, std::vector<int64_t>{5, 6, 7});
  CHECK(ids[2] == 7);
  CHECK_THROWS_AS(Ids::from({2}, std::vector<size_t>{1}), Error);
}

TEST_CASE("mask: ranges against the definition") {
  constexpr int64_t batch = 3;
  for (const int64_t queries : {1, 3, 6})
    for (const int64_t keys : {1, 4, 6})
      for (const bool causal : {false, true})
        for (const int64_t window : {0, 1, 2, 9})
          for (const bool lengths : {false, true}) {
            KeepMask mask{causal, window, {}, {}};
            if (lengths) mask.key_lengths = Ids::from({batch}, {0, 1, static_cast<int32_t>(keys)});
            mask.check_fits("op", batch, 2, queries, keys);
            for (int64_t b = 0; b < batch; ++b)
              for (int64_t i = 0; i < queries; ++i) {
                const KeepMask::KeyRange range = mask.keys_for(b, i, queries, keys);
                REQUIRE(0 <= range.first);
                REQUIRE(range.first <= range.last);
                REQUIRE(range.last <= keys);
                for (int64_t j = 0; j < keys; ++j) {
                  const int64_t ahead = j - (i + keys - queries);  // of the query's position
                  const bool expected = !(causal && ahead > 0) &&
                                        !(window > 0 && std::abs(ahead) >= window) &&
                                        !(lengths && j >= mask.key_lengths[b]);
                  REQUIRE((range.first <= j && j < range.last) == expected);
                  REQUIRE(mask.keeps(b, 1, i, j, queries, keys) == expected);
                }
              }
          }
}

TEST_CASE("mask: dense rows, with and without broadcasting over examples and heads") {
  for (const int64_t examples : {1, 2})
    for (const int64_t heads : {1, 3}) {
      KeepMask mask;
      mask.dense = Ids::empty({examples, heads, 4, 5});
      for (int64_t i = 0; i < mask.dense.size(); ++i) mask.dense.mutable_data()[i] = i % 3 == 0;
      mask.check_fits("op", 2, 3, 4, 5);
      for (int64_t b = 0; b < 2; ++b)
        for (int64_t h = 0; h < 3; ++h) {
          const int64_t matrix = (examples == 1 ? 0 : b) * heads + (heads == 1 ? 0 : h);
          for (int64_t i = 0; i < 4; ++i)
            for (int64_t j = 0; j < 5; ++j)
              REQUIRE(mask.keeps(b, h, i, j, 4, 5) == ((matrix * 20 + i * 5 + j) % 3 == 0));
        }
    }
}

TEST_CASE("mask: parts that do not fit are rejected") {
  const auto fails = [](const KeepMask& mask) {
    CHECK_THROWS_AS(mask.check_fits("op", 2, 3, 4, 5), Error);
  };
  fails({false, -1, {}, {}});
  fails({false, 0, Ids::full({3}, 1), {}});
  fails({false, 0, Ids::full({2}, 6), {}});
  fails({false, 0, Ids::full({2}, -1), {}});
  fails({false, 0, {}, Ids::full({2, 3, 4}, 1)});
  fails({false, 0, {}, Ids::full({2, 3, 5, 4}, 1)});
  fails({false, 0, {}, Ids::full({2, 2, 4, 5}, 1)});
}

}  // namespace
}  // namespace heed::inline HEED_REAL
