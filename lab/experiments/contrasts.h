// Differences between groups of runs, paired by seed: what effects.h is computed from.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/experiments/effects.h"

namespace heed {

using Values = std::vector<std::string>;
using BySeed = std::map<int64_t, double>;  // a score, as a logarithm if it is compared by ratios

// The difference between two groups: the second minus the first.
struct Difference {
  const BySeed *first, *second;

  std::optional<double> at(int64_t seed) const {
    const auto a = first->find(seed), b = second->find(seed);
    if (a == first->end() || b == second->end()) return std::nullopt;
    return b->second - a->second;
  }
};
// A difference, or a difference minus another one.
struct Contrast {
  Difference difference;
  std::optional<Difference> minus = {};

  std::optional<double> at(int64_t seed) const {
    std::optional<double> value = difference.at(seed);
    if (!value || !minus) return value;
    const std::optional<double> other = minus->at(seed);
    return other ? std::optional(*value - *other) : std::nullopt;
  }
};
using Contrasts = std::vector<Contrast>;

// Returns the mean of contrasts within each seed, over the seeds that all of them have. At least
// one.
Comparison compare(const Contrasts& contrasts, const Effects& effects);
// Compares a group with another one, unless their data differ.
GroupComparison compare_groups(const SeedGroups& groups, const std::vector<BySeed>& scores,
                               size_t against, size_t group, const Effects& effects);

// Returns what the data files of a group contain.
const std::string& data_of(const SeedGroups& groups, size_t group);

// Sets adjusted_p of comparisons that have a p.
template <class Each>
void adjust(std::vector<Each>& comparisons) {
  std::vector<double> p;
  for (const Comparison& each : comparisons)
    if (!std::isnan(each.effect.p)) p.push_back(each.effect.p);
  const std::vector<double> adjusted = holm(p);
  auto next = adjusted.begin();
  for (Comparison& each : comparisons)
    if (!std::isnan(each.effect.p)) each.adjusted_p = *next++;
}

// Keys that vary together, by their indices in SeedGroups::varying.
using Factor = std::vector<size_t>;

Values values_of(const SeedGroup& group, const Factor& factor);
// Returns whether the values of two keys determine each other, as those of one [[zip]] do.
bool vary_together(const SeedGroups& groups, size_t a, size_t b);

// Answers an EffectQuestion: sets groups and baseline, and interactions, of `effects`. See
// effects_on() for what they throw.
struct Setting {
  size_t key;  // that varies, by its index
  std::string value;
};
std::optional<Setting> baseline_of(const EffectQuestion& question, const SeedGroups& groups);
void compare_with_baseline(const SeedGroups& groups, const std::vector<BySeed>& scores,
                           const Setting& baseline, Effects& effects);
void interact(const SeedGroups& groups, const std::vector<BySeed>& scores,
              const EffectQuestion& question, const std::optional<Setting>& baseline,
              Effects& effects);

}  // namespace heed
