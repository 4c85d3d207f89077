#include "nn/forms/score_bias.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/ops.h"
#include "gradient_check.h"
#include "nn/forms/graph.h"
#include "support.h"

using namespace heed;
using heed::testing::random_tensor;

namespace {

real at(const Tensor& bias, int64_t h, int64_t i, int64_t j) {
  return bias.data()[(h * bias.dim(-2) + i) * bias.dim(-1) + j];
}

// The last rows of all of them belong to the last queries.
void check_aligned_at_the_ends(const ScoreBias& bias) {
  const Tensor all = bias(7, 7), last = bias(3, 7), again = bias(7, 7);
  REQUIRE(last.shape() == Shape{all.dim(0), 3, 7});
  for (int64_t h = 0; h < all.dim(0); ++h)
    for (int64_t i = 0; i < 7; ++i)
      for (int64_t j = 0; j < 7; ++j) {
        if (i >= 4) CHECK(at(last, h, i - 4, j) == at(all, h, i, j));
        CHECK(at(again, h, i, j) == at(all, h, i, j));
      }
}

// Two examples of five positions: a ring of three with a tail, one way; and two ends of a road.
Edges two_graphs() {
  return {Ids::from({6}, {0, 1, 2, 2, 5, 6}), Ids::from({6}, {1, 2, 0, 3, 6, 5}), {}};
}

}  // namespace

TEST_CASE("the slopes of linear biases are the authors'") {
  const auto eight = alibi_slopes(8);
  REQUIRE(eight.size() == 8);
  for (int h = 1; h <= 8; ++h)
    CHECK(eight[static_cast<size_t>(h) - 1] == std::exp2(-h));  // to 1/256
  CHECK(alibi_slopes(16)[0] == std::exp2(-0.5));
  CHECK(alibi_slopes(1) == std::vector<double>{1.0 / 256});

  // Twelve heads: those of eight, then every other one of sixteen.
  const auto twelve = alibi_slopes(12), sixteen = alibi_slopes(16);
  REQUIRE(twelve.size() == 12);
  for (size_t h = 0; h < 8; ++h) CHECK(twelve[h] == eight[h]);
  for (size_t h = 8; h < 12; ++h) CHECK(twelve[h] == sixteen[2 * (h - 8)]);
  CHECK(twelve[8] == doctest::Approx(0.70710678));
  CHECK(twelve[11] == doctest::Approx(0.08838835));
}

TEST_CASE("linear biases decrease with the distance, by the slope of each head") {
  const AlibiBias alibi(8);
  CHECK(alibi.parameter_count() == 0);
  const Tensor bias = alibi(4, 4);
  REQUIRE(bias.shape() == Shape{8, 4, 4});
  for (int64_t h = 0; h < 8; ++h)
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t j = 0; j < 4; ++j)
        CHECK(static_cast<double>(at(bias, h, i, j)) ==
              -std::exp2(-static_cast<double>(h + 1)) * std::abs(static_cast<double>(i - j)));
  check_aligned_at_the_ends(alibi);
}

TEST_CASE("the buckets of distances are the published ones") {
  // T5's 32 buckets up to 128. In both directions: eight single distances, then bucket 8 + k from
  // 8 · 2^(k/2) on. Only to the past: sixteen, then bucket 16 + k from 16 · 2^(3k/16) on.
  const std::vector<int64_t> both = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91};
  const std::vector<int64_t> past = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                     11, 12, 13, 14, 15, 16, 19, 21, 24, 27, 31,
                                     35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
  const auto last_from = [](const std::vector<int64_t>& firsts, int64_t distance) {
    return std::upper_bound(firsts.begin(), firsts.end(), distance) - firsts.begin() - 1;
  };
  for (int64_t distance = 0; distance < 1000; ++distance) {
    CAPTURE(distance);
    CHECK(relative_bucket(-distance, 32, 128, true) == last_from(both, distance));
    CHECK(relative_bucket(-distance, 32, 128, false) == last_from(past, distance));
    if (distance > 0)
      CHECK(relative_bucket(distance, 32, 128, true) == 16 + last_from(both, distance));
  }
  for (int64_t later : {1, 5, 1000}) CHECK(relative_bucket(later, 32, 128, false) == 0);
}

TEST_CASE("relative biases are looked up by distance, for one or both directions") {
  for (bool bidirectional : {true, false}) {
    const RelativeBias relative(3, 8, 6, bidirectional, 0.5);
    CHECK(relative.parameter_count() == 8 * 3);
    const Tensor bias = relative(9, 9);
    REQUIRE(bias.shape() == Shape{3, 9, 9});
    for (int64_t h = 0; h < 3; ++h) {
      for (int64_t i = 0; i < 9; ++i)
        for (int64_t j = 0; j < 9; ++j) {
          const int64_t bucket = relative_bucket(j - i, 8, 6, bidirectional);
          CHECK(at(bias, h, i, j) == relative.weight.data()[bucket * 3 + h]);
          if (i > 0 && j > 0) CHECK(at(bias, h, i, j) == at(bias, h, i - 1, j - 1));
        }
      CHECK(at(bias, h, 4, 3) != at(bias, h, 4, 5));
      CHECK((at(bias, h, 4, 5) == at(bias, h, 4, 4)) == !bidirectional);
      CHECK(at(bias, h, 8, 0) == at(bias, h, 7, 0));  // both beyond max_distance
    }
    check_aligned_at_the_ends(relative);
  }
  CHECK_THROWS_AS(RelativeBias(3, 2, 6, true, 0.5), Error);
  CHECK_THROWS_AS(RelativeBias(3, 8, 2, true, 0.5), Error);
}

TEST_CASE("a distance on a graph is the length of the shortest path from a key to a query") {
  const Ids distances = graph_distances(two_graphs(), 2, 5, 2);
  REQUIRE(distances.shape() == Shape{2, 5, 5});
  constexpr int32_t far = 3;  // most + 1
  const int32_t expected[2][5][5] = {{{0, 2, 1, far, far},
                                      {1, 0, 2, far, far},
                                      {2, 1, 0, far, far},
                                      {far, 2, 1, 0, far},  // from 0 it takes three
                                      {far, far, far, far, 0}},
                                     {{0, 1, far, far, far},
                                      {1, 0, far, far, far},
                                      {far, far, 0, far, far},
                                      {far, far, far, 0, far},
                                      {far, far, far, far, 0}}};
  for (int64_t n = 0; n < 50; ++n) {
    CAPTURE(n);
    CHECK(distances[n] == expected[n / 25][n / 5 % 5][n % 5]);
  }
  const Ids longer = graph_distances(two_graphs(), 2, 5, 9);
  CHECK(longer[3 * 5 + 0] == 3);
  CHECK(longer[0 * 5 + 3] == 10);  // no way back

  const Ids shorter = graph_distances(two_graphs(), 2, 5, 1);
  CHECK(shorter[3 * 5 + 1] == 2);  // two, and
  CHECK(shorter[3 * 5 + 0] == 2);  // three edges are both too far

  const Ids none = graph_distances({}, 1, 2, 4);
  CHECK(none[0] == 0);
  CHECK(none[1] == 5);
  CHECK_THROWS_AS(graph_distances(two_graphs(), 2, 5, std::numeric_limits<int32_t>::max()), Error);
}

TEST_CASE("edges to missing positions or to other examples are rejected") {
  const auto rejects = [](std::initializer_list<int32_t> sender,
                          std::initializer_list<int32_t> receiver) {
    const Edges edges{Ids::from({static_cast<int64_t>(sender.size())}, sender),
                      Ids::from({static_cast<int64_t>(receiver.size())}, receiver),
                      {}};
    CHECK_THROWS_WITH_AS(graph_distances(edges, 2, 3, 4), doctest::Contains("graph distances"),
                         Error);
  };
  rejects({0, 6}, {1, 5});
  rejects({0, 4}, {1, 6});
  rejects({-1}, {0});
  rejects({0}, {-1});
  rejects({2}, {3});
  rejects({0, 1}, {1});
  CHECK_THROWS_AS(graph_distances({}, 2, 3, -1), Error);
}

TEST_CASE("the biases of a graph start at zero and are looked up by distance") {
  GraphDistanceBias bias(2, 2);
  CHECK(bias.weight.shape() == Shape{4, 2});
  const Tensor untrained = bias(two_graphs(), 2, 5);
  for (real value : untrained.values()) CHECK(value == 0);
  for (int64_t n = 0; n < 8; ++n) bias.weight.mutable_data()[n] = static_cast<real>(n);
  const Tensor b = bias(two_graphs(), 2, 5);
  REQUIRE(b.shape() == Shape{2, 2, 5, 5});
  const Ids distances = graph_distances(two_graphs(), 2, 5, 2);
  for (int64_t n = 0; n < 100; ++n)
    CHECK(b.data()[n] == bias.weight.data()[distances[n / 50 * 25 + n % 25] * 2 + n / 25 % 2]);
}

TEST_CASE("gradients of learned biases agree with central differences") {
  for (bool bidirectional : {true, false}) {
    const RelativeBias relative(3, 8, 6, bidirectional, 0.5);
    const Tensor cotangent = random_tensor({3, 9, 9}, 11).detach();
    testing::check_gradients(relative.parameters(),
                             [&] { return sum(softmax(relative(9, 9)) * cotangent); });
  }
  const GraphDistanceBias graph(2, 2);
  const Tensor cotangent = random_tensor({2, 2, 5, 5}, 11).detach();
  testing::check_gradients(graph.parameters(),
                           [&] { return sum(softmax(graph(two_graphs(), 2, 5)) * cotangent); });
}
