#include "lab/experiments/effects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "apps/support/numbers.h"
#include "core/joined.h"
#include "lab/experiments/student.h"

namespace heed {
namespace {

constexpr double level = 0.05;

using Values = std::vector<std::string>;
using BySeed = std::map<int64_t, double>;

// The score of each seed of each group, as a logarithm if it is compared by ratios.
std::vector<BySeed> scores_of(const RunGroups& groups, const Effects& effects) {
  std::vector<BySeed> scores;
  for (const RunGroup& group : groups.groups) {
    BySeed& by_seed = scores.emplace_back();
    for (const ScoredRun& run : group.runs)
      if (const std::optional<double> number = run.number(effects.score))
        by_seed[run.seed] = effects.by_ratio ? std::log(*number) : *number;
  }
  return scores;
}

// What the data files of a group contain.
const std::string& data_of(const RunGroups& groups, size_t group) {
  return groups.groups[group].runs[0].data;
}

// Pairs of groups whose difference is averaged within each seed.
using Pairs = std::vector<std::pair<const BySeed*, const BySeed*>>;

// Compares the second group of each pair with the first one, over the seeds that all of them have.
Comparison compare(const Pairs& pairs, bool by_ratio) {
  Comparison comparison;
  std::vector<double> differences;
  for (const auto& entry : *pairs.at(0).first) {
    const int64_t seed = entry.first;
    double sum = 0;
    const bool complete = std::ranges::all_of(pairs, [&](const auto& pair) {
      const auto first = pair.first->find(seed), other = pair.second->find(seed);
      if (first == pair.first->end() || other == pair.second->end()) return false;
      sum += other->second - first->second;
      return true;
    });
    if (!complete) continue;
    comparison.seeds.push_back(seed);
    differences.push_back(sum / static_cast<double>(pairs.size()));
  }
  if (differences.empty()) return comparison;
  comparison.effect = by_ratio ? ratio_of(differences) : difference_of(differences);
  return comparison;
}

// Sets adjusted_p. Comparisons without a seed have no p.
template <class Each>
void adjust(std::vector<Each>& comparisons) {
  std::vector<double> p;
  for (const Comparison& each : comparisons)
    if (!each.seeds.empty()) p.push_back(each.effect.p);
  const std::vector<double> adjusted = holm(p);
  auto next = adjusted.begin();
  for (Comparison& each : comparisons)
    if (!each.seeds.empty()) each.adjusted_p = *next++;
}

// Keys that vary together, by their indices.
using Factor = std::vector<size_t>;

Values values_of(const RunGroup& group, const Factor& factor) {
  Values values;
  for (const size_t key : factor) values.push_back(group.values[key]);
  return values;
}

// Returns whether the values of two keys determine each other, as those of one [[zip]] do.
bool vary_together(const RunGroups& groups, size_t a, size_t b) {
  std::set<std::string> of_a, of_b;
  std::set<std::pair<std::string, std::string>> of_both;
  for (const RunGroup& group : groups.groups) {
    of_a.insert(group.values[a]);
    of_b.insert(group.values[b]);
    of_both.emplace(group.values[a], group.values[b]);
  }
  return of_a.size() == of_both.size() && of_b.size() == of_both.size();
}

std::vector<Factor> factors_of(const RunGroups& groups) {
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

KeyEffects effects_of(const Factor& factor, const RunGroups& groups,
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
  std::map<Values, Pairs> pairs;
  for (size_t i = 0; i < scores.size(); ++i)
    if (!scores[i].empty() && values_of(groups.groups[i], factor) == key.first)
      with_first[values_of(groups.groups[i], others)] = i;
  for (size_t i = 0; i < scores.size(); ++i) {
    const Values values = values_of(groups.groups[i], factor);
    const auto first = with_first.find(values_of(groups.groups[i], others));
    if (scores[i].empty() || values == key.first || first == with_first.end()) continue;
    if (data_of(groups, i) != data_of(groups, first->second)) continue;
    if (!pairs.contains(values)) order.push_back(values);
    pairs[values].emplace_back(&scores[first->second], &scores[i]);
  }
  for (const Values& values : order)
    key.values.push_back({compare(pairs[values], effects.by_ratio), values});
  adjust(key.values);
  return key;
}

// ---- What to know about them ----

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
  if (const double p = smallest_p(most, count); p >= level) {
    lines.push_back(fmt::format(
        "too few seeds{}: with {}{} no p can be below {:.3g}, so none can be below {}; {} seeds "
        "would do",
        question, counted(most, "seed"),
        count > 1 ? fmt::format(" and {} comparisons (Holm)", count) : "", p, level,
        least_differences(count)));
    return;
  }
  const int64_t least = least_differences();
  if (const auto few = std::ranges::count_if(seeds, [&](int64_t n) { return n < least; }); few > 0)
    lines.push_back(
        fmt::format("too few seeds in {} of {}{}: with fewer than {} no p can be below {}", few,
                    counted(count, "comparison"), question, least, level));
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
void warn_of_pairs(const Effects& effects, const RunGroups& groups,
                   std::vector<std::string>& lines) {
  int64_t unscored = 0, without = 0, others = 0;
  for (const GroupComparison& each : effects.groups)
    if (groups.groups[each.group].numbers(effects.score).empty())
      ++unscored;
    else if (each.seeds.empty())
      ++(each.same_data ? without : others);
  const auto count = std::ssize(effects.groups);
  if (unscored > 0)
    lines.push_back(fmt::format("{} of {} {} no run with a finite {}", unscored,
                                counted(count, "group"), unscored == 1 ? "has" : "have",
                                effects.score));
  if (without + others == 0) return;
  const std::string first = settings_text(groups.varying, groups.groups[effects.first].values);
  if (without > 0)
    lines.push_back(fmt::format("{} of {} {} no seed in common with {}", without,
                                counted(count, "group"), without == 1 ? "has" : "have", first));
  if (others > 0)
    lines.push_back(
        fmt::format("{} of {} {} other data than {}; heed computes no effect for {}, because it "
                    "would mix the effects of keys and data",
                    others, counted(count, "group"), others == 1 ? "has" : "have", first,
                    others == 1 ? "it" : "them"));
}

}  // namespace

bool Comparison::disagrees(double no_effect) const {
  if (std::isinf(effect.interval.high)) return false;  // there is none
  const bool excluded = effect.interval.low > no_effect || effect.interval.high < no_effect;
  return excluded != (effect.p < level);
}

bool Effects::any() const {
  return std::ranges::any_of(groups, [](const Comparison& each) { return !each.seeds.empty(); });
}

Effects effects_on(const RunGroups& groups, const std::string& score) {
  Effects effects{.score = score};
  for (const RunGroup& group : groups.groups)
    for (const ScoredRun& run : group.runs) {
      const std::optional<double> number = run.number(score);
      effects.not_positive += number && *number <= 0;
      effects.not_finite += !number && run.find(score);
    }
  effects.by_ratio = is_compared_by_ratio(score) && effects.not_positive == 0;
  const std::vector<BySeed> scores = scores_of(groups, effects);
  while (effects.first < scores.size() && scores[effects.first].empty()) ++effects.first;
  if (effects.first == scores.size()) return effects;
  for (size_t i = 0; i < scores.size(); ++i)
    if (i != effects.first) {
      const bool same = data_of(groups, i) == data_of(groups, effects.first);
      const Pairs pairs = {{&scores[effects.first], &scores[i]}};
      effects.groups.push_back({same ? compare(pairs, effects.by_ratio) : Comparison(), i, same});
    }
  adjust(effects.groups);
  if (const std::vector<Factor> factors = factors_of(groups); factors.size() > 1)
    for (const Factor& factor : factors)
      effects.keys.push_back(effects_of(factor, groups, scores, effects));
  std::erase_if(effects.keys, [](const KeyEffects& key) { return key.values.empty(); });
  return effects;
}

std::vector<std::string> warnings_of(const Effects& effects, const RunGroups& groups) {
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
