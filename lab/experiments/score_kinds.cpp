#include "lab/experiments/score_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/inference/scores.h"
#include "apps/support/names.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/text.h"

namespace heed {

constexpr Score of_run[] = {{.name = "seconds", .lower_is_better = true, .by_ratio = true},
                            {.name = "tokens_per_s", .by_ratio = true}};

static const Score* find_kind(std::span<const Score> kinds, std::string_view name) {
  const auto found = std::ranges::find(kinds, name, &Score::name);
  return found == kinds.end() ? nullptr : &*found;
}

// Null: nothing has this name.
static const Score* kind_of_score(const std::string& name) {
  const std::string last = last_component(without_group(name)),
                    first = name.substr(0, name.find('.'));
  const auto measure = std::ranges::find(inspect_measures, first, &Measure::name);
  if (measure != inspect_measures.end())
    if (const Score* const kind = find_kind((*measure)->kinds, last)) return kind;
  const Score* const score = find_score(name);
  return score ? score : find_kind(of_run, last);
}

bool lower_is_better(const std::string& score) {
  const Score* const kind = kind_of_score(score);
  return !kind || kind->lower_is_better;
}

bool is_compared_by_ratio(const std::string& score) {
  const Score* const kind = kind_of_score(score);
  return kind && kind->by_ratio;
}

double maximum_of(const std::string& score) {
  const Score* const kind = kind_of_score(score);
  return kind ? kind->maximum : INFINITY;
}

void check_score_names(const char* option, const std::vector<std::string>& scores) {
  for (const std::string& score : scores) {
    if (score.empty() || find_kind(of_run, score) ||
        (score.find('.') != score.npos && kind_of_score(score)))
      continue;
    std::vector<std::string> names;
    for (const Score* const each : scores::all) names.push_back(std::string("SPLIT.") + each->name);
    for (const Score& each : of_run) names.emplace_back(each.name);
    throw InputError(
        fmt::format("{} {}: there is no such score; choose one of {}, where SPLIT is "
                    "val, test or another split",
                    option, in_quotes(score), joined(names)));
  }
}

bool is_better(const std::string& score, double value, double other) {
  return lower_is_better(score) ? value < other : value > other;
}

}  // namespace heed
