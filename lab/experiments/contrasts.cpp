#include "lab/experiments/contrasts.h"

#include <set>

namespace heed {

Comparison compare(const Contrasts& contrasts, const Effects& effects) {
  Comparison comparison;
  std::vector<double>& means = comparison.differences;
  for (const auto& entry : *contrasts.at(0).difference.first) {
    double sum = 0;
    const bool complete = std::ranges::all_of(contrasts, [&](const Contrast& contrast) {
      const std::optional<double> value = contrast.at(entry.first);
      sum += value.value_or(0);
      return value.has_value();
    });
    if (!complete) continue;
    comparison.seeds.push_back(entry.first);
    means.push_back(sum / static_cast<double>(contrasts.size()));
  }
  if (means.empty()) return comparison;
  comparison.effect = effects.by_ratio ? ratio_of(means) : difference_of(means);
  const double most = effects.largest * (contrasts[0].minus ? 2 : 1);
  Interval& interval = comparison.effect.interval;
  interval = {std::max(interval.low, -most), std::min(interval.high, most)};
  return comparison;
}

GroupComparison compare_groups(const SeedGroups& groups, const std::vector<BySeed>& scores,
                               size_t against, size_t group, const Effects& effects) {
  const bool same = data_of(groups, group) == data_of(groups, against);
  const Contrasts contrasts = {{{&scores[against], &scores[group]}}};
  return {same ? compare(contrasts, effects) : Comparison(), group, against, same};
}

const std::string& data_of(const SeedGroups& groups, size_t group) {
  return groups.groups[group].runs[0].data;
}

Values values_of(const SeedGroup& group, const Factor& factor) {
  Values values;
  for (const size_t key : factor) values.push_back(group.values[key]);
  return values;
}

bool vary_together(const SeedGroups& groups, size_t a, size_t b) {
  std::set<std::string> of_a, of_b;
  std::set<std::pair<std::string, std::string>> of_both;
  for (const SeedGroup& group : groups.groups) {
    of_a.insert(group.values[a]);
    of_b.insert(group.values[b]);
    of_both.emplace(group.values[a], group.values[b]);
  }
  return of_a.size() == of_both.size() && of_b.size() == of_both.size();
}

}  // namespace heed
