// What to know about effects before believing them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/support/numbers.h"
#include "core/joined.h"
#include "lab/experiments/effects.h"
#include "lab/experiments/score_kinds.h"
#include "lab/experiments/student.h"

namespace heed {
namespace {

// A comparison and what it is called.
struct NamedComparison {
  const Comparison* comparison;
  std::string name;
};

// Says that there are too few seeds for a p below 0.05, if that is so. `question` is " for
// optim.lr".
void warn_of_few(const std::vector<NamedComparison>& all, const std::string& question,
                 std::vector<std::string>& lines) {
  std::vector<int64_t> seeds;
  for (const NamedComparison& each : all)
    if (!each.comparison->seeds.empty()) seeds.push_back(std::ssize(each.comparison->seeds));
  if (seeds.empty()) return;
  const int64_t most = std::ranges::max(seeds), count = std::ssize(seeds);
  if (const double p = smallest_p(most, count); p >= significance_level) {
    lines.push_back(fmt::format(
        "too few seeds{}: with {}{} no p can be below {:.3g}, so none can be below {}; {} seeds "
        "would do",
        question, counted(most, "seed"),
        count > 1 ? fmt::format(" and {} comparisons (Holm)", count) : "", p, significance_level,
        least_differences(count)));
    return;
  }
  const int64_t least = least_differences();
  if (const auto few = std::ranges::count_if(seeds, [&](int64_t n) { return n < least; }); few > 0)
    lines.push_back(
        fmt::format("too few seeds in {} of {}{}: with fewer than {} no p can be below {}", few,
                    counted(count, "comparison"), question, least, significance_level));
}

void warn_of_disagreement(const std::vector<NamedComparison>& all, const Effects& effects,
                          std::vector<std::string>& lines) {
  constexpr size_t most = 3;
  std::vector<std::string> names;
  for (const NamedComparison& each : all)
    if (each.comparison->disagrees(effects.no_effect())) names.push_back(each.name);
  if (names.empty()) return;
  const size_t more = names.size() - std::min(most, names.size());
  names.resize(std::min(most, names.size()));
  lines.push_back(fmt::format(
      "interval and p disagree at the 5 % level for {}{}: the interval assumes that {} are normal; "
      "p assumes only that they are symmetric around 0, and with n seeds it cannot be below 2/2ⁿ",
      joined(names, "; "), more > 0 ? fmt::format("; and {} more", more) : "",
      effects.by_ratio ? "the logarithms of the ratios" : "the differences"));
}

// Says which groups are not compared, and why.
void warn_of_pairs(const Effects& effects, const SeedGroups& groups,
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

}  // namespace

std::vector<std::string> warnings_of(const Effects& effects, const SeedGroups& groups) {
  std::vector<std::string> lines;
  if (std::isinf(student_quantile(2)))
    lines.emplace_back(
        "there are no intervals: this build of heed has no Boost.Math (in Debian libboost-dev)");
  std::vector<NamedComparison> all;  // of keys, then of groups
  for (const KeyEffects& key : effects.keys) {
    std::vector<NamedComparison> of_key;
    for (const KeyEffects::Value& value : key.values)
      of_key.push_back({&value, settings_text(key.keys, value.values)});
    warn_of_few(of_key, fmt::format(" for {}", joined(key.keys)), lines);
    all.insert(all.end(), of_key.begin(), of_key.end());
  }
  std::vector<NamedComparison> of_groups;
  for (const GroupComparison& each : effects.groups)
    of_groups.push_back({&each, settings_text(groups.varying, groups.groups[each.group].values)});
  if (effects.without_baseline > 0)
    lines.push_back(fmt::format("{} not compared: no group, or more than one, differs in {} only",
                                counted(effects.without_baseline, "group"), effects.baseline));
  std::vector<NamedComparison> of_two;
  for (const Interaction& each : effects.interactions.values)
    of_two.push_back(
        {&each, fmt::format("the interaction of {} and {}", each.values[0], each.values[1])});
  warn_of_few(of_two, " for interactions", lines);
  all.insert(all.end(), of_two.begin(), of_two.end());
  warn_of_few(of_groups, effects.keys.empty() ? "" : " for groups", lines);
  all.insert(all.end(), of_groups.begin(), of_groups.end());
  warn_of_disagreement(all, effects, lines);
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
