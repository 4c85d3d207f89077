#include "lab/experiments/effect_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "apps/support/numbers.h"
#include "core/joined.h"
#include "lab/experiments/verdict.h"

namespace heed {
namespace {

Table::Row effect_headings(Table::Row row, const Effects& effects, bool several) {
  row.insert(row.end(), {"n", effects.size_name(), "95 % interval", "p"});
  if (several) row.emplace_back("p (Holm)");
  return row;
}

std::string size_text(double size, bool by_ratio) {
  return by_ratio ? fmt::format("{:.4g}", size) : fmt::format("{:+.4g}", size);
}

Table::Row effect_row(Table::Row row, const Comparison& each, bool by_ratio, bool several) {
  row.push_back(std::to_string(each.seeds.size()));
  if (each.seeds.empty()) {
    row.resize(row.size() + (several ? 4 : 3), "-");
    return row;
  }
  const Interval& interval = each.effect.interval;
  row.push_back(size_text(each.effect.size, by_ratio));
  row.push_back(std::isfinite(interval.high)
                    ? fmt::format("{} … {}", size_text(interval.low, by_ratio),
                                  size_text(interval.high, by_ratio))
                    : "-");
  const auto p_text = [](double p) { return std::isnan(p) ? "-" : fmt::format("{:.3g}", p); };
  row.push_back(p_text(each.effect.p));
  if (several) row.push_back(p_text(each.adjusted_p));
  return row;
}

// "higher by 29.0 points (21.1 to 36.9; 8 pairs), p = 0.0078 (Holm 0.0156)"
std::string effect_words(const Comparison& each, const Effects& effects, bool several) {
  std::string text = verdict_text(each, effects);
  if (std::isnan(each.effect.p)) return text;
  text += fmt::format(", p = {:.3g}", each.effect.p);
  return several ? text + fmt::format(" (Holm {:.3g})", each.adjusted_p) : text;
}

// The index of a key among those that vary.
size_t key_index(const std::string& key, const SeedGroups& groups) {
  return static_cast<size_t>(std::ranges::find(groups.varying, key) - groups.varying.begin());
}

// What two groups have in common, without `key` and what varies with it: " at model.dim = 64".
std::string common_setting(const SeedGroups& groups, const GroupComparison& each) {
  const std::vector<std::string>&a = groups.groups[each.group].values,
        &b = groups.groups[each.against].values;
  std::vector<std::string> keys, values;
  for (size_t i = 0; i < groups.varying.size(); ++i)
    if (a[i] == b[i]) {
      keys.push_back(groups.varying[i]);
      values.push_back(a[i]);
    }
  return keys.empty() ? "" : " at " + settings_text(keys, values);
}

}  // namespace

std::vector<std::string> sentences_of(const Effects& effects, const SeedGroups& groups) {
  std::vector<std::string> sentences;
  const char* const minus = effects.by_ratio ? "/" : "−";
  const auto add = [&](const std::string& what, const Comparison& each, bool several) {
    if (!each.seeds.empty())
      sentences.push_back(fmt::format("{}: {}", what, effect_words(each, effects, several)));
  };
  const bool single = effects.groups.size() == 1 && groups.varying.size() == 1;
  if (single || !effects.baseline.empty()) {
    const std::string& key = single ? groups.varying[0] : effects.baseline;
    const size_t at = key_index(key, groups);
    for (const GroupComparison& each : effects.groups)
      add(fmt::format("{} {} {}{}", groups.groups[each.group].values[at], minus,
                      groups.groups[each.against].values[at], common_setting(groups, each)),
          each, effects.groups.size() > 1);
  }
  const auto& keys = effects.interactions.keys;
  const auto& values = effects.interactions.values;
  for (const Interaction& each : values) {
    const auto effect = [&](const std::string& at) {
      return fmt::format("({} {} {} at {} = {})", each.values[0], minus, each.against[0], keys[1],
                         at);
    };
    add(fmt::format("{} {} {}", effect(each.values[1]), minus, effect(each.against[1])), each,
        values.size() > 1);
  }
  return sentences;
}

std::vector<EffectTable> effect_tables(const Effects& effects, const SeedGroups& groups) {
  const std::string interval =
      fmt::format("interval and p: Student on {}",
                  effects.by_ratio ? "the logarithms of the ratios" : "the differences");
  const char* const against = effects.by_ratio ? "divided by" : "minus";
  std::vector<EffectTable> tables;
  if (!effects.keys.empty()) {
    const bool several = std::ranges::any_of(
        effects.keys, [](const KeyEffects& key) { return key.values.size() > 1; });
    Table table{{effect_headings({"key", "value", "against"}, effects, several)}, {}};
    for (const KeyEffects& key : effects.keys)
      for (const KeyEffects::Value& value : key.values)
        table.rows.push_back(effect_row({joined(key.keys), joined(value.values), joined(key.first)},
                                        value, effects.by_ratio, several));
    table.notes = {fmt::format(
        "{0} with the value {1} {0} with the one in `against`, {2} over the other keys within each "
        "seed; {3}{4}",
        effects.score, against, effects.by_ratio ? "geometric mean" : "mean", interval,
        several ? ", Holm within each key" : "")};
    tables.push_back({std::move(table), 3});
  }
  const auto holm = [](size_t count) {
    return count > 1 ? fmt::format(", Holm over {} comparisons", count) : "";
  };
  if (!effects.baseline.empty() || !effects.groups.empty()) {
    const bool several = effects.groups.size() > 1, has_baseline = !effects.baseline.empty();
    Table::Row heading = groups.varying;
    if (has_baseline) heading.push_back("against " + effects.baseline);
    const size_t left = heading.size();
    Table table{{effect_headings(std::move(heading), effects, several)}, {}};
    for (const GroupComparison& each : effects.groups) {
      Table::Row row = groups.groups[each.group].values;
      if (has_baseline)
        row.push_back(groups.groups[each.against].values[key_index(effects.baseline, groups)]);
      table.rows.push_back(effect_row(std::move(row), each, effects.by_ratio, several));
    }
    const std::string other =
        has_baseline ? fmt::format("the group that differs in {} only", effects.baseline)
                     : settings_text(groups.varying, groups.groups[effects.first].values);
    table.notes = {fmt::format("{} {} that of {}, paired by seed; {}{}", effects.score, against,
                               other, interval, holm(effects.groups.size()))};
    tables.push_back({std::move(table), left});
  }
  if (const auto& [keys, values] = effects.interactions; !values.empty()) {
    const bool several = values.size() > 1;
    Table table{{effect_headings({keys[0], keys[1], "against"}, effects, several)}, {}};
    for (const Interaction& each : values)
      table.rows.push_back(
          effect_row({each.values[0], each.values[1], each.against[0] + ", " + each.against[1]},
                     each, effects.by_ratio, several));
    table.notes = {fmt::format(
        "interaction on {}: the effect of {} at the value of {}, {} the effect at the value in "
        "`against`, paired by seed; {}{}",
        effects.score, keys[0], keys[1], against, interval, holm(values.size()))};
    tables.push_back({std::move(table), 3});
  }
  if (!tables.empty())
    std::ranges::copy(sentences_of(effects, groups), std::back_inserter(tables.back().table.notes));
  return tables;
}

}  // namespace heed
