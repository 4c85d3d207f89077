#include "lab/experiments/effects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "core/joined.h"
#include "lab/experiments/contrasts.h"
#include "lab/experiments/score_kinds.h"

namespace heed {
namespace {

// The score of each seed of each group, as a logarithm if it is compared by ratios.
std::vector<BySeed> scores_of(const SeedGroups& groups, const Effects& effects) {
  std::vector<BySeed> scores;
  for (const SeedGroup& group : groups.groups) {
    BySeed& by_seed = scores.emplace_back();
    for (const ScoredRun& run : group.runs)
      if (const std::optional<double> number = run.number(effects.score))
        by_seed[run.seed] = effects.by_ratio ? std::log(*number) : *number;
  }
  return scores;
}

std::vector<Factor> factors_of(const SeedGroups& groups) {
  std::vector<Factor> factors;
  for (size_t key = 0; key < groups.varying.size(); ++key) {
    const auto same = std::ranges::find_if(
        factors, [&](const Factor& factor) { return vary_together(groups, factor[0], key); });
    if (same != factors.end())
      same->push_back(key);
    else
      factors.push_back({key});
  }
  return factors;
}

KeyEffects effects_of(const Factor& factor, const SeedGroups& groups,
                      const std::vector<BySeed>& scores, const Effects& effects) {
  KeyEffects key{{}, values_of(groups.groups[effects.first], factor), {}};
  Factor others;
  for (size_t i = 0; i < groups.varying.size(); ++i)
    if (std::ranges::find(factor, i) == factor.end())
      others.push_back(i);
    else
      key.keys.push_back(groups.varying[i]);
  std::map<Values, size_t> with_first;  // groups, by the values of the other keys
  std::vector<Values> order;
  std::map<Values, Contrasts> pairs;
  for (size_t i = 0; i < scores.size(); ++i)
    if (!scores[i].empty() && values_of(groups.groups[i], factor) == key.first)
      with_first[values_of(groups.groups[i], others)] = i;
  for (size_t i = 0; i < scores.size(); ++i) {
    const Values values = values_of(groups.groups[i], factor);
    const auto first = with_first.find(values_of(groups.groups[i], others));
    if (scores[i].empty() || values == key.first || first == with_first.end()) continue;
    if (data_of(groups, i) != data_of(groups, first->second)) continue;
    if (!pairs.contains(values)) order.push_back(values);
    pairs[values].push_back({{&scores[first->second], &scores[i]}});
  }
  for (const Values& values : order)
    key.values.push_back({compare(pairs[values], effects), values});
  adjust(key.values);
  return key;
}

void compare_with_first(const SeedGroups& groups, const std::vector<BySeed>& scores,
                        Effects& effects) {
  for (size_t i = 0; i < scores.size(); ++i)
    if (i != effects.first)
      effects.groups.push_back(compare_groups(groups, scores, effects.first, i, effects));
  if (const std::vector<Factor> factors = factors_of(groups); factors.size() > 1)
    for (const Factor& factor : factors)
      effects.keys.push_back(effects_of(factor, groups, scores, effects));
  std::erase_if(effects.keys, [](const KeyEffects& key) { return key.values.empty(); });
}

}  // namespace

bool Effects::any() const {
  return std::ranges::any_of(groups, [](const Comparison& each) { return !each.seeds.empty(); });
}

Effects effects_on(const SeedGroups& groups, const std::string& score,
                   const EffectQuestion& question) {
  Effects effects{.score = score, .largest = maximum_of(score)};
  for (const SeedGroup& group : groups.groups)
    for (const ScoredRun& run : group.runs) {
      const std::optional<double> number = run.number(score);
      if (number && (*number < 0 || *number > maximum_of(score))) effects.largest = INFINITY;
      effects.not_positive += number && *number <= 0;
      effects.not_finite += !number && run.find(score);
    }
  effects.by_ratio = is_compared_by_ratio(score) && effects.not_positive == 0;
  const std::vector<BySeed> scores = scores_of(groups, effects);
  while (effects.first < scores.size() && scores[effects.first].empty()) ++effects.first;
  const std::optional<Setting> baseline = baseline_of(question, groups);
  if (effects.first == scores.size()) return effects;
  if (baseline)
    compare_with_baseline(groups, scores, *baseline, effects);
  else
    compare_with_first(groups, scores, effects);
  adjust(effects.groups);
  if (!question.interaction.empty()) interact(groups, scores, question, baseline, effects);
  return effects;
}

std::string settings_text(const std::vector<std::string>& keys,
                          const std::vector<std::string>& values) {
  constexpr size_t most = 6;
  std::vector<std::string> parts;
  for (size_t i = 0; i < std::min(most, keys.size()); ++i)
    parts.push_back(fmt::format("{} = {}", keys[i], values[i]));
  if (keys.size() > most) parts.emplace_back("…");
  return parts.empty() ? "the only group" : joined(parts);
}

}  // namespace heed
