// The mistakes that the grader of the exercise beam-search names.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "core/ops.h"
#include "course/exercises/beam-search/model.h"
#include "nn/search.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

namespace {

namespace beam_search_solution {
using namespace heed;
using course::BeamOptions, course::NextLogProbabilities;
#include "tests/course/solutions/beam-search.cpp"
}  // namespace beam_search_solution

// The library's search.
std::vector<int> text_by_library(const NextLogProbabilities& next, const BeamOptions& o) {
  const NextLogits logits = [&](const Ids& tokens, std::span<const int64_t>) {
    std::vector<double> rows;
    for (int64_t n = 0; n < tokens.dim(0); ++n) {
      const int32_t* const row = tokens.data() + n * tokens.dim(1);
      const std::vector<double> log_p = next({row + 1, row + tokens.dim(1)});
      rows.insert(rows.end(), log_p.begin(), log_p.end());
    }
    const int64_t count = tokens.dim(0);
    return Tensor::from({count, std::ssize(rows) / count}, rows);
  };
  return heed::beam_search(logits, 1,
                           {.prompt = {0},
                            .end = o.end,
                            .max_length = o.max_length,
                            .beam = o.beam,
                            .length_penalty = o.length_penalty})[0]
      .tokens;
}

// The solution with other options, or after a change of its result.
std::vector<int> find_text(const NextLogProbabilities& next, const BeamOptions& o) {
  return beam_search_solution::heed::course::find_text(next, o);
}

// A search whose steps may go wrong.
struct BeamStep {
  bool complete_take_slots = false, own_best_child = false, last_token_only = false;
  bool greedy_goes_on = false, with_end = false;
  bool first_complete = false, no_cut_off = false, end_not_counted = false, plain_length = false;
};

template <BeamStep step>
std::vector<int> beam_text_with(const NextLogProbabilities& next, const BeamOptions& o) {
  using Text = std::tuple<double, double, std::vector<int>>;  // rank, log p, tokens
  std::vector<Text> growing{{0, 0, {}}};
  std::pair<double, std::vector<int>> best{-1e300, {}};
  const auto finish = [&](double log_p, const std::vector<int>& tokens, double length) {
    const double base = step.plain_length ? length : (5 + length) / 6;
    best = std::max(best, {log_p / std::pow(base, o.length_penalty), tokens},
                    [](const auto& a, const auto& b) { return a.first < b.first; });
  };
  for (int length = 0; length < o.max_length; ++length) {
    std::vector<Text> all;
    for (const auto& [rank, log_p, tokens] : growing) {
      const std::vector<double> of_token = next(tokens);
      std::vector<Text> own;
      for (size_t v = 0; v < of_token.size(); ++v) {
        std::vector<int> extended = tokens;
        extended.push_back(static_cast<int>(v));
        own.emplace_back(step.last_token_only ? of_token[v] : log_p + of_token[v],
                         log_p + of_token[v], extended);
      }
      std::sort(own.rbegin(), own.rend());
      if (step.own_best_child && growing.size() > 1) own.resize(1);
      all.insert(all.end(), own.begin(), own.end());
    }
    std::sort(all.rbegin(), all.rend());
    growing.clear();
    int slots = o.beam;
    for (auto& [rank, log_p, tokens] : all) {
      if (slots == 0) break;
      if (tokens.back() != o.end) {
        --slots;
        growing.emplace_back(rank, log_p, tokens);
        continue;
      }
      if (!step.with_end) tokens.pop_back();
      finish(log_p, tokens, length + (step.end_not_counted ? 0 : 1));
      if ((o.beam == 1 && !step.greedy_goes_on) || step.first_complete) return best.second;
      if (step.complete_take_slots) --slots;
    }
  }
  for (const auto& [rank, log_p, tokens] : growing)
    if (!step.no_cut_off) finish(log_p, tokens, o.max_length);
  return best.second;
}

TEST_CASE("exercise beam-search: the solution and the library's search pass") {
  CHECK(verdict("beam_search", find_text) == "");
  CHECK(verdict("beam_search", text_by_library) == "");
  CHECK(verdict("beam_search", beam_text_with<BeamStep{}>) == "");
}

TEST_CASE("exercise beam-search: the stub and mistakes of a step are named") {
  CHECK_SAYS("Complete texts take slots", "beam_search",
             beam_text_with<BeamStep{.complete_take_slots = true}>);
  CHECK_SAYS("its own best extension", "beam_search",
             beam_text_with<BeamStep{.own_best_child = true}>);
  CHECK_SAYS("of their last token", "beam_search",
             beam_text_with<BeamStep{.last_token_only = true}>);
}

TEST_CASE("exercise beam-search: mistakes at the end of a text are named") {
  CHECK_SAYS("The first complete text", "beam_search",
             beam_text_with<BeamStep{.first_complete = true}>);
  CHECK_SAYS("cut off at max_length", "beam_search", beam_text_with<BeamStep{.no_cut_off = true}>);
  CHECK_SAYS("counts in its length", "beam_search",
             beam_text_with<BeamStep{.end_not_counted = true}>);
  CHECK_SAYS("divided by nᵅ", "beam_search", beam_text_with<BeamStep{.plain_length = true}>);
  CHECK_SAYS("The length penalty is not used", "beam_search",
             [](const NextLogProbabilities& next, const BeamOptions& o) {
               return find_text(next, {o.beam, o.end, o.max_length, 0});
             });
  CHECK_SAYS("after its first complete text", "beam_search",
             beam_text_with<BeamStep{.greedy_goes_on = true}>);
  CHECK_SAYS("The end token is in the result", "beam_search",
             beam_text_with<BeamStep{.with_end = true}>);
}

}  // namespace
}  // namespace heed::course
