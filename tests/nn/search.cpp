#include "nn/search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "core/check.h"
#include "core/random.h"

using namespace heed;

namespace {

// A model over tokens {0: begin, 1: end, 2: a, 3: b} defined by a table: the tokens so far
// determine the probabilities of (end, a, b).
using Table = std::map<std::vector<int32_t>, std::array<double, 3>>;

NextLogits model_of(const Table& table) {
  return [table](const Ids& tokens, std::span<const int64_t> examples) {
    CHECK(tokens.dim(0) == static_cast<int64_t>(examples.size()));
    const int64_t time = tokens.dim(1);
    Tensor logits = Tensor::full({tokens.dim(0), 4}, -1e9F);
    for (int64_t n = 0; n < tokens.dim(0); ++n) {
      std::vector<int32_t> so_far;
      for (int64_t t = 1; t < time; ++t) so_far.push_back(tokens[n * time + t]);
      const auto row = table.find(so_far);
      const std::array<double, 3> p = row == table.end() ? std::array{1.0, 0.0, 0.0} : row->second;
      for (int64_t v = 0; v < 3; ++v)
        logits.mutable_data()[n * 4 + v + 1] =
            static_cast<real>(std::log(std::max(p[static_cast<size_t>(v)], 1e-30)));
    }
    return logits;
  };
}

SearchOptions with_beam(int64_t beam, double penalty = 0, int64_t max_length = 10) {
  return {
      .prompt = {0}, .end = 1, .max_length = max_length, .beam = beam, .length_penalty = penalty};
}

// Greedy says a (0.6), then end (0.5): 0.30. Better in all: b, end: 0.4 · 0.9 = 0.36.
const Table garden_path = {{{}, {0.0, 0.6, 0.4}}, {{2}, {0.5, 0.25, 0.25}}, {{3}, {0.9, 0.1, 0.0}}};

}  // namespace

TEST_CASE("greedy search takes the most probable token at each step") {
  const auto found = beam_search(model_of(garden_path), 1, with_beam(1));
  CHECK(found.at(0).tokens == std::vector<int32_t>{2});
  CHECK(found.at(0).log_probability == doctest::Approx(std::log(0.6 * 0.5)).epsilon(1e-5));
}

TEST_CASE("a beam finds what greedy search misses") {
  const auto found = beam_search(model_of(garden_path), 1, with_beam(2));
  CHECK(found.at(0).tokens == std::vector<int32_t>{3});
  CHECK(found.at(0).score == doctest::Approx(std::log(0.36)).epsilon(1e-5));
}

TEST_CASE("examples of one batch do not affect each other") {
  const auto found = beam_search(model_of(garden_path), 3, with_beam(2));
  REQUIRE(found.size() == 3);
  for (const Hypothesis& h : found) CHECK(h.tokens == std::vector<int32_t>{3});
}

TEST_CASE("a length penalty prefers the longer of two hypotheses") {
  // end: 0.5; a, a, a, end: 0.5 · 1 · 1 · 0.9 = 0.45
  const Table table = {
      {{}, {0.5, 0.5, 0}}, {{2}, {0, 1, 0}}, {{2, 2}, {0, 1, 0}}, {{2, 2, 2}, {0.9, 0, 0.1}}};
  CHECK(beam_search(model_of(table), 1, with_beam(2)).at(0).tokens.empty());
  const auto found = beam_search(model_of(table), 1, with_beam(2, 1));
  CHECK(found.at(0).tokens == std::vector<int32_t>{2, 2, 2});
  CHECK(found.at(0).score == doctest::Approx(std::log(0.45) / (9.0 / 6)).epsilon(1e-5));
}

TEST_CASE("a hypothesis that was cut off has no end token, and its length counts none") {
  // Both have length 1: end with 0.55, and a, cut off, with 0.45.
  const Table one = {{{}, {0.55, 0.45, 0}}};
  for (const double penalty : {0.0, 0.6, 1.0, 2.0}) {
    CAPTURE(penalty);
    const auto found = beam_search(model_of(one), 1, with_beam(2, penalty, 1));
    CHECK(found.at(0).tokens.empty());
    CHECK(found.at(0).score == doctest::Approx(std::log(0.55)).epsilon(1e-5));
  }
  // Only cut off ones: the score has their length, 2.
  const Table endless = {{{}, {0, 0.6, 0.4}}, {{2}, {0, 0.6, 0.4}}, {{3}, {0, 0.5, 0.5}}};
  for (const double penalty : {0.6, 1.0, 2.0}) {
    const auto found = beam_search(model_of(endless), 1, with_beam(2, penalty, 2));
    CHECK(found.at(0).tokens == std::vector<int32_t>{2, 2});
    CHECK(found.at(0).score ==
          doctest::Approx(std::log(0.36) / std::pow(7.0 / 6, penalty)).epsilon(1e-5));
  }
}

TEST_CASE("a search with a length penalty finds the best of all hypotheses") {
  // Compares a beam that holds every hypothesis with all hypotheses of the table up to max_length.
  const Table table = {{{}, {0.4, 0.35, 0.25}},     {{2}, {0.5, 0.3, 0.2}},
                       {{3}, {0.1, 0.8, 0.1}},      {{2, 2}, {0.3, 0.4, 0.3}},
                       {{2, 3}, {0.9, 0.05, 0.05}}, {{3, 2}, {0.7, 0.2, 0.1}},
                       {{3, 3}, {0.2, 0.4, 0.4}}};
  for (const int64_t max_length : {1, 2, 3})
    for (const double penalty : {-1.0, 0.0, 0.6, 1.0, 2.0, 5.0}) {
      CAPTURE(max_length);
      CAPTURE(penalty);
      double best = -1e300;
      const std::function<void(std::vector<int32_t>, double)> visit =
          [&](const std::vector<int32_t>& tokens, double p) {
            const auto length = static_cast<double>(tokens.size());
            const auto score = [&](double probability, double n) {
              return std::log(probability) / std::pow((5 + n) / 6, penalty);
            };
            if (static_cast<int64_t>(tokens.size()) == max_length) {
              best = std::max(best, score(p, length));
              return;
            }
            const auto& next = table.at(tokens);
            best = std::max(best, score(p * next[0], length + 1));
            for (int32_t token : {2, 3}) {
              std::vector<int32_t> longer = tokens;
              longer.push_back(token);
              visit(longer, p * next[static_cast<size_t>(token) - 1]);
            }
          };
      visit({}, 1);
      const auto found = beam_search(model_of(table), 1, with_beam(8, penalty, max_length));
      CHECK(found.at(0).score == doctest::Approx(best).epsilon(1e-5));
    }
}

namespace {

// The definition of the rules: whether tokens with `next` after them hold a forbidden token or the
// same n tokens twice.
bool breaks(const TokenRules& rules, std::vector<int32_t> tokens, int32_t next) {
  tokens.push_back(next);
  if (std::count(rules.forbidden.begin(), rules.forbidden.end(), next) > 0) return true;
  const auto n = static_cast<size_t>(rules.no_repeat_ngram);
  for (size_t i = 0; n > 0 && i + n <= tokens.size(); ++i)
    for (size_t j = i + 1; j + n <= tokens.size(); ++j)
      if (std::equal(tokens.begin() + static_cast<ptrdiff_t>(i),
                     tokens.begin() + static_cast<ptrdiff_t>(i + n),
                     tokens.begin() + static_cast<ptrdiff_t>(j)))
        return true;
  return false;
}

}  // namespace

TEST_CASE("an n-best search finds the best of all hypotheses that the rules allow, in order") {
  const Table table = {{{}, {0.4, 0.35, 0.25}},     {{2}, {0.5, 0.3, 0.2}},
                       {{3}, {0.1, 0.8, 0.1}},      {{2, 2}, {0.3, 0.4, 0.3}},
                       {{2, 3}, {0.9, 0.05, 0.05}}, {{3, 2}, {0.7, 0.2, 0.1}},
                       {{3, 3}, {0.2, 0.45, 0.35}}};
  const TokenRules all_rules[] = {{{0}, 0},    {{0, 3}, 0}, {{0, 1}, 0}, {{0, 1, 2, 3}, 0},
                                  {{0, 1}, 1}, {{0}, 1},    {{0}, 2},    {{0, 1}, 2}};
  for (const TokenRules& rules : all_rules)
    for (const double penalty : {-1.0, 0.0, 1.0}) {
      std::vector<std::pair<double, std::vector<double>>> expected;  // score, log probabilities
      const std::function<void(std::vector<int32_t>, std::vector<double>)> visit =
          [&](const std::vector<int32_t>& tokens, const std::vector<double>& logs) {
            const auto add = [&](const std::vector<double>& all) {
              double sum = 0;
              for (const double each : all) sum += each;
              const double length = static_cast<double>(all.size());
              expected.emplace_back(sum / std::pow((5 + length) / 6, penalty), all);
            };
            bool is_last = true;
            for (int32_t next = 1; next <= 3 && tokens.size() < 3; ++next) {
              if (breaks(rules, tokens, next)) continue;
              is_last = false;
              std::vector<int32_t> longer = tokens;
              std::vector<double> all = logs;
              longer.push_back(next);
              all.push_back(std::log(table.at(tokens)[static_cast<size_t>(next) - 1]));
              next == 1 ? add(all) : visit(longer, all);
            }
            if (is_last) add(logs);
          };
      visit({}, {});
      std::sort(expected.begin(), expected.end(), std::greater());
      for (const int64_t n_best : {1, 3, 20}) {
        SearchOptions options = with_beam(20, penalty, 3);
        options.n_best = n_best;
        options.rules = rules;
        const auto found = n_best_search(model_of(table), 1, options).at(0);
        CHECK(found.size() == std::min(expected.size(), static_cast<size_t>(n_best)));
        for (size_t i = 0; i < found.size(); ++i) {
          CAPTURE(i);
          const auto& actual = found[i].token_log_probabilities;
          const auto& [score, logs] = expected[i];
          CHECK(found[i].score == doctest::Approx(score).epsilon(1e-5));
          CHECK(actual.size() == logs.size());
          double sum = 0;
          for (const double each : actual) sum += each;
          CHECK(found[i].log_probability == doctest::Approx(sum).epsilon(1e-9));
          std::vector<int32_t> before;
          for (const int32_t token : found[i].tokens) {
            const double p = table.at(before)[static_cast<size_t>(token) - 1];
            CHECK(actual[before.size()] == doctest::Approx(std::log(p)).epsilon(1e-5));
            before.push_back(token);
          }
        }
      }
    }
  CHECK_THROWS_AS(n_best_search(model_of(table), 1, {.beam = 1, .n_best = 2}), Error);
}

TEST_CASE("each example can have a maximum length of its own") {
  const Table endless = {{{}, {0, 0.6, 0.4}}, {{2}, {0, 0.6, 0.4}}, {{2, 2}, {0, 0.6, 0.4}}};
  SearchOptions options = with_beam(1);
  options.max_lengths = {2, 0, 3};
  const auto found = beam_search(model_of(endless), 3, options);
  CHECK(found.at(0).tokens == std::vector<int32_t>{2, 2});
  CHECK(found.at(1).tokens.empty());
  CHECK(found.at(2).tokens == std::vector<int32_t>{2, 2, 2});
  CHECK(found.at(2).log_probability == doctest::Approx(3 * std::log(0.6)).epsilon(1e-5));
}

TEST_CASE("rules find repeated sequences like their definition") {
  const std::vector<int32_t> tokens = {0, 1, 2, 0, 1, 3, 3, 0, 1};
  for (int64_t n = 0; n <= 10; ++n) {
    const TokenRules rules{{4}, n};
    const std::vector<bool> allowed = rules.allowed(tokens, 5);
    for (int32_t next = 0; next < 5; ++next) {
      // Sequences that repeat before `next` do not count.
      bool repeats = false;
      for (size_t i = 0; n > 0 && i + static_cast<size_t>(n) <= tokens.size(); ++i) {
        std::vector<int32_t> last(tokens.end() - static_cast<ptrdiff_t>(n - 1), tokens.end());
        last.push_back(next);
        repeats = repeats ||
                  std::equal(last.begin(), last.end(), tokens.begin() + static_cast<ptrdiff_t>(i));
      }
      CHECK(allowed[static_cast<size_t>(next)] == (next != 4 && !repeats));
    }
  }
}

TEST_CASE("equal scores and equal probabilities are decided in a stated order") {
  // end and a both 0.5: the complete hypothesis wins over the one that is cut off.
  const Table half = {{{}, {0.5, 0.5, 0}}};
  CHECK(beam_search(model_of(half), 1, with_beam(2, 0, 1)).at(0).tokens.empty());
  // a and b are equally probable: the lower id.
  const Table same = {{{}, {0, 0.5, 0.5}}, {{2}, {1, 0, 0}}, {{3}, {1, 0, 0}}};
  for (int64_t beam : {1, 2})
    CHECK(beam_search(model_of(same), 1, with_beam(beam)).at(0).tokens == std::vector<int32_t>{2});
  // Four extensions are equally probable, for a beam of two: those of the first row.
  const Table rows = {{{}, {0, 0.5, 0.5}},     {{2}, {0, 0.5, 0.5}}, {{3}, {0, 0.5, 0.5}},
                      {{2, 2}, {0.1, 0, 0.9}}, {{2, 3}, {1, 0, 0}},  {{3, 2}, {1, 0, 0}},
                      {{3, 3}, {1, 0, 0}}};
  CHECK(beam_search(model_of(rows), 1, with_beam(2)).at(0).tokens == std::vector<int32_t>{2, 3});
  const std::vector<real> all_equal(40, 1);
  for (int32_t token = 0; token < 40; ++token)
    CHECK(sample(all_equal, {}, (token + 0.5) / 40) == token);
  const std::vector<real> equal = {0, 1, 1, 1};
  CHECK(sample(equal, {.temperature = 0}, 0.9) == 1);
  CHECK(sample(equal, {.top_k = 1}, 0.9) == 1);
  CHECK(sample(equal, {.top_k = 2}, 0.9) == 2);
}

TEST_CASE("logits that are not finite are an error, and a logit of minus infinity is not") {
  constexpr real infinity = std::numeric_limits<real>::infinity();
  const real nan = std::numeric_limits<real>::quiet_NaN();
  for (const std::vector<real>& logits :
       {std::vector<real>{nan, nan}, {0, nan}, {nan, 0}, {0, infinity}, {-infinity, -infinity}}) {
    for (const double temperature : {0.0, 1.0})
      CHECK_THROWS_WITH_AS(sample(logits, {.temperature = temperature}, 0.5),
                           doctest::Contains("sample"), Error);
    const NextLogits next = [&](const Ids&, std::span<const int64_t>) {
      return Tensor::from({1, 2}, logits);
    };
    for (int64_t beam : {1, 2})
      CHECK_THROWS_WITH_AS(beam_search(next, 1, with_beam(beam)), doctest::Contains("beam search"),
                           Error);
  }
  const std::vector<real> impossible = {-infinity, 1, -infinity};
  CHECK(sample(impossible, {}, 0.99) == 1);
  CHECK(sample(impossible, {.temperature = 0}, 0.99) == 1);
  CHECK_THROWS_AS(sample(impossible, {.temperature = std::nan("")}, 0.5), Error);
  CHECK_THROWS_AS(beam_search(model_of(garden_path), 1, with_beam(2, std::nan(""))), Error);
}

TEST_CASE("a hypothesis that never ends is cut off at max_length") {
  const Table table = {{{}, {0, 1, 0}}, {{2}, {0, 1, 0}}, {{2, 2}, {0, 1, 0}}};
  for (int64_t beam : {1, 3})
    CHECK(beam_search(model_of(table), 1, with_beam(beam, 0, 2)).at(0).tokens ==
          std::vector<int32_t>{2, 2});
  CHECK(beam_search(model_of(table), 1, with_beam(1, 0, 0)).at(0).tokens.empty());
  CHECK_THROWS_AS(beam_search(model_of(table), 1, with_beam(0)), Error);
}

TEST_CASE("a random number just below 1 gives a token of the nucleus, whatever the rounding") {
  std::vector<real> logits;
  for (int count = 1; count <= 200; ++count) {
    logits.push_back(static_cast<real>(-0.05 * count));
    double total = 0, sum = 0;
    for (const real x : logits) total += std::exp(static_cast<double>(x));
    int last = -1;
    while (sum < 0.5 * total)
      sum += std::exp(static_cast<double>(logits[static_cast<size_t>(++last)]));
    CHECK(sample(logits, {.top_p = 0.5}, std::nextafter(1.0, 0.0)) == last);
  }
}

// sample() by its definition: all tokens in order, then the first whose probabilities exceed the
// random number.
int32_t sample_by_definition(std::span<const real> logits, const SamplingOptions& o,
                             double uniform) {
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto logit = [&](int32_t token) { return logits[static_cast<size_t>(token)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return logit(a) > logit(b); });
  if (o.top_k > 0) order.resize(std::min(order.size(), static_cast<size_t>(o.top_k)));
  const double maximum = logit(order[0]);
  std::vector<double> weights;
  double total = 0, sum = 0;
  for (const int32_t token : order) {
    weights.push_back(std::exp((logit(token) - maximum) / o.temperature));
    total += weights.back();
  }
  size_t kept = 0;
  while (kept < weights.size() && sum < o.top_p * total) sum += weights[kept++];
  double left = uniform * sum;
  for (size_t i = 0; i < kept; ++i)
    if ((left -= weights[i]) < 0) return order[i];
  return order[kept - 1];
}

TEST_CASE("samples from vocabularies of any size match the definition, with equal logits too") {
  Random random(7, Purpose::task);
  for (const size_t vocabulary : std::initializer_list<size_t>{1, 65, 1999, 2000, 20'001}) {
    std::vector<real> logits(vocabulary);
    for (real& logit : logits) logit = static_cast<real>(random.normal());
    const auto any = [&]() -> real& {
      return logits[static_cast<size_t>(random.uniform() * static_cast<double>(vocabulary))];
    };
    for (size_t i = 0; i < vocabulary / 4; ++i) {
      any() = any();
      any() = i % 2 == 0 ? real{0} : -real{0};
      any() = std::numeric_limits<real>::denorm_min();
      any() = -std::numeric_limits<real>::infinity();
    }
    logits[0] = 1;
    CAPTURE(vocabulary);
    for (const SamplingOptions& options :
         {SamplingOptions{}, {.temperature = 0.3}, {.top_k = 5}, {.top_k = 5000}, {.top_p = 0.7}})
      for (int i = 0; i < 50; ++i) {
        const double uniform = random.uniform();
        REQUIRE(sample(logits, options, uniform) == sample_by_definition(logits, options, uniform));
      }
  }
}

TEST_CASE(
    "samples follow the probabilities, within top k and top p, and are fixed at temperature 0") {
  const std::vector<real> logits = {std::log(real{0.1}), std::log(real{0.6}), std::log(real{0.3})};
  const auto counts = [&](const SamplingOptions& options) {
    std::array<int, 3> count{};
    for (int i = 0; i < 1000; ++i)
      ++count[static_cast<size_t>(sample(logits, options, (i + 0.5) / 1000))];
    return count;
  };
  CHECK(counts({}) == std::array{100, 600, 300});
  CHECK(counts({.temperature = 0}) == std::array{0, 1000, 0});
  CHECK(counts({.top_k = 1}) == std::array{0, 1000, 0});
  CHECK(counts({.top_k = 2}) == std::array{0, 667, 333});
  CHECK(counts({.top_p = 0.5}) == std::array{0, 1000, 0});
  CHECK(counts({.top_p = 0.8}) == std::array{0, 667, 333});
  // Temperature ½ squares the odds: 0.01 : 0.36 : 0.09.
  CHECK(counts({.temperature = 0.5}) == std::array{22, 783, 195});
  CHECK_THROWS_AS(sample(logits, {.temperature = -1}, 0.5), Error);
  CHECK_THROWS_AS(sample(logits, {.top_p = 0}, 0.5), Error);
}
