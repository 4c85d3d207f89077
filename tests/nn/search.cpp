#include "nn/search.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "core/check.h"

using namespace heed;

namespace {

// A model over tokens {0: begin, 1: end, 2: a, 3: b} given by a table: what has been said decides
// the probabilities of (end, a, b).
using Table = std::map<std::vector<int32_t>, std::array<double, 3>>;

NextLogits model_of(const Table& table) {
  return [table](const Ids& tokens, std::span<const int64_t> examples) {
    CHECK(tokens.dim(0) == static_cast<int64_t>(examples.size()));
    const int64_t time = tokens.dim(1);
    Tensor logits = Tensor::full({tokens.dim(0), 4}, -1e9F);
    for (int64_t n = 0; n < tokens.dim(0); ++n) {
      std::vector<int32_t> said;
      for (int64_t t = 1; t < time; ++t) said.push_back(tokens[n * time + t]);
      const auto row = table.find(said);
      const std::array<double, 3> p = row == table.end() ? std::array{1.0, 0.0, 0.0} : row->second;
      for (int64_t v = 0; v < 3; ++v)
        logits.mutable_data()[n * 4 + v + 1] =
            static_cast<real>(std::log(std::max(p[static_cast<size_t>(v)], 1e-30)));
    }
    return logits;
  };
}

SearchOptions with_beam(int64_t beam, double penalty = 0, int64_t max_length = 10) {
  return {.begin = 0, .end = 1, .max_length = max_length, .beam = beam, .length_penalty = penalty};
}

// Greedy says a (0.6), then end (0.5): 0.30. Better in all: b, end: 0.4 · 0.9 = 0.36.
const Table garden_path = {{{}, {0.0, 0.6, 0.4}}, {{2}, {0.5, 0.25, 0.25}}, {{3}, {0.9, 0.1, 0.0}}};

}  // namespace

TEST_CASE("greedy search takes the likeliest token each time") {
  const auto found = beam_search(model_of(garden_path), 1, with_beam(1));
  CHECK(found.at(0).tokens == std::vector<int32_t>{2});
  CHECK(found.at(0).log_probability == doctest::Approx(std::log(0.6 * 0.5)).epsilon(1e-5));
}

TEST_CASE("a beam finds what greedy search misses") {
  const auto found = beam_search(model_of(garden_path), 1, with_beam(2));
  CHECK(found.at(0).tokens == std::vector<int32_t>{3});
  CHECK(found.at(0).score == doctest::Approx(std::log(0.36)).epsilon(1e-5));
}

TEST_CASE("examples in one batch do not disturb each other") {
  const auto found = beam_search(model_of(garden_path), 3, with_beam(2));
  REQUIRE(found.size() == 3);
  for (const Hypothesis& h : found) CHECK(h.tokens == std::vector<int32_t>{3});
}

TEST_CASE("a length penalty prefers the longer of two") {
  // end: 0.5; a, a, a, end: 0.5 · 1 · 1 · 0.9 = 0.45
  const Table table = {
      {{}, {0.5, 0.5, 0}}, {{2}, {0, 1, 0}}, {{2, 2}, {0, 1, 0}}, {{2, 2, 2}, {0.9, 0, 0.1}}};
  CHECK(beam_search(model_of(table), 1, with_beam(2)).at(0).tokens.empty());
  const auto found = beam_search(model_of(table), 1, with_beam(2, 1));
  CHECK(found.at(0).tokens == std::vector<int32_t>{2, 2, 2});
  CHECK(found.at(0).score == doctest::Approx(std::log(0.45) / (9.0 / 6)).epsilon(1e-5));
}

TEST_CASE("what never ends is cut off at max_length") {
  const Table table = {{{}, {0, 1, 0}}, {{2}, {0, 1, 0}}, {{2, 2}, {0, 1, 0}}};
  for (int64_t beam : {1, 3})
    CHECK(beam_search(model_of(table), 1, with_beam(beam, 0, 2)).at(0).tokens ==
          std::vector<int32_t>{2, 2});
  CHECK(beam_search(model_of(table), 1, with_beam(1, 0, 0)).at(0).tokens.empty());
  CHECK_THROWS_AS(beam_search(model_of(table), 1, with_beam(0)), Error);
}

TEST_CASE("sampling draws in proportion, within top k and top p, and is certain at temperature 0") {
  const std::vector<real> logits = {std::log(real{0.1}), std::log(real{0.6}), std::log(real{0.3})};
  const auto shares = [&](const SamplingOptions& options) {
    std::array<int, 3> count{};
    for (int i = 0; i < 1000; ++i)
      ++count[static_cast<size_t>(sample(logits, options, (i + 0.5) / 1000))];
    return count;
  };
  CHECK(shares({}) == std::array{100, 600, 300});
  CHECK(shares({.temperature = 0}) == std::array{0, 1000, 0});
  CHECK(shares({.top_k = 1}) == std::array{0, 1000, 0});
  CHECK(shares({.top_k = 2}) == std::array{0, 667, 333});
  CHECK(shares({.top_p = 0.5}) == std::array{0, 1000, 0});
  CHECK(shares({.top_p = 0.8}) == std::array{0, 667, 333});
  // Temperature ½ squares the odds: 0.01 : 0.36 : 0.09.
  CHECK(shares({.temperature = 0.5}) == std::array{22, 783, 195});
  CHECK_THROWS_AS(sample(logits, {.temperature = -1}, 0.5), Error);
  CHECK_THROWS_AS(sample(logits, {.top_p = 0}, 0.5), Error);
}
