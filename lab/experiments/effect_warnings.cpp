// What to know about effects before believing them.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "apps/support/numbers.h"
#include "core/joined.h"
#include "lab/experiments/effects.h"
#include "lab/experiments/score_kinds.h"
#include "lab/experiments/student.h"

namespace heed {

constexpr int64_t few_pairs = 3;

// Says what intervals of few pairs lean on, and what would be needed without that.
static void warn_of_few(const Effects& effects, std::vector<std::string>& lines) {
  int64_t fewest = std::numeric_limits<int64_t>::max(), single = 0;
  const auto look_at = [&](const Comparison& each) {
    const int64_t pairs = std::ssize(each.seeds);
    single += pairs == 1;
    if (pairs > 1) fewest = std::min(fewest, pairs);
  };
  for (const KeyEffects& key : effects.keys) std::ranges::for_each(key.values, look_at);
  std::ranges::for_each(effects.interactions.values, look_at);
  std::ranges::for_each(effects.groups, look_at);
  if (single > 0)
    lines.push_back(fmt::format("too few seeds in {}: a single pair has no interval",
                                counted(single, "comparison")));
  if (has_intervals() && fewest <= few_pairs)
    lines.push_back(fmt::format(
        "with {} pairs an interval leans on the assumption that {} are normal; without the "
        "assumption of a bell curve {} seeds would be needed",
        fewest, effects.by_ratio ? "the logarithms of the ratios" : "the differences",
        least_flipped));
}

// Says which groups are not compared, and why.
static void warn_of_pairs(const Effects& effects, const SeedGroups& groups,
                          std::vector<std::string>& lines) {
  if (effects.groups.empty()) return;
  const auto is_unscored = [&](const SeedGroup& group) {
    return group.numbers(effects.score).empty();
  };
  if (const auto unscored = std::ranges::count_if(groups.groups, is_unscored); unscored > 0)
    lines.push_back(fmt::format("{} of {} {} no run with a finite {}", unscored,
                                counted(std::ssize(groups.groups), "group"),
                                unscored == 1 ? "has" : "have", effects.score));
  int64_t without = 0, others = 0;
  for (const GroupComparison& each : effects.groups)
    if (each.seeds.empty() && !is_unscored(groups.groups[each.group]))
      ++(each.same_data ? without : others);
  const std::string compared = counted(std::ssize(effects.groups), "other group");
  if (without + others == 0) return;
  const std::string first =
      !effects.baseline.empty()
          ? "the group to compare with"
          : settings_text(groups.varying, groups.groups[effects.first].values);
  if (without > 0)
    lines.push_back(fmt::format("{} of {} {} no seed in common with {}", without, compared,
                                without == 1 ? "has" : "have", first));
  if (others > 0)
    lines.push_back(fmt::format(
        "{} of {} {} other data than {}; heed computes no effect for {}, because it "
        "would mix the effects of keys and data",
        others, compared, others == 1 ? "has" : "have", first, others == 1 ? "it" : "them"));
}

std::vector<std::string> warnings_of(const Effects& effects, const SeedGroups& groups) {
  std::vector<std::string> lines;
  if (!has_intervals())
    lines.emplace_back(
        "there are no intervals: this build of heed has no Boost.Math (in Debian libboost-dev)");
  if (effects.without_baseline > 0)
    lines.push_back(fmt::format("{} not compared: no group, or more than one, differs in {} only",
                                counted(effects.without_baseline, "group"), effects.baseline));
  warn_of_few(effects, lines);
  warn_of_pairs(effects, groups, lines);
  if (effects.not_positive > 0 && is_compared_by_ratio(effects.score))
    lines.push_back(
        fmt::format("{} is 0 or less in {}, so there are no ratios: it is compared by differences",
                    effects.score, counted(effects.not_positive, "run")));
  if (effects.not_finite > 0)
    lines.push_back(fmt::format("left out of all pairs: {} without a finite {}",
                                counted(effects.not_finite, "run"), effects.score));
  return lines;
}

}  // namespace heed
