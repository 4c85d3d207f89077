// heed compare --baseline and --interaction: which groups are compared.
#include <fmt/format.h>

#include "apps/support/numbers.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/suggest.h"
#include "core/text.h"
#include "lab/experiments/contrasts.h"

namespace heed {
namespace {

// Returns the index of a key that varies.
size_t varying_key(const std::string& option, const std::string& key, const SeedGroups& groups) {
  const auto found = std::ranges::find(groups.varying, key);
  if (found != groups.varying.end()) return static_cast<size_t>(found - groups.varying.begin());
  const std::string others =
      groups.varying.empty() ? "no key has two values" : "choose one of " + joined(groups.varying);
  std::vector<std::string> known;
  for (const ConfigEntry& entry : list_config(Experiment())) known.push_back(entry.key);
  check_input(std::ranges::find(known, key) != known.end(), "{}: there is no key {}{}; {}", option,
              in_quotes(key), did_you_mean(key, known), others);
  const std::string value = groups.groups.empty() ? "-" : groups.groups[0].runs[0].value(key);
  throw InputError(
      fmt::format("{}: {} has one value in these runs ({}), so it cannot be compared; {}", option,
                  key, value, others));
}

bool is_value(const std::string& text, const std::string& value) {
  const std::optional<double> a = number_of_text(text), b = number_of_text(value);
  return text == value || (a && b && *a == *b);
}

// Returns the keys that vary independently of a key.
Factor independent_of(size_t key, const SeedGroups& groups) {
  Factor others;
  for (size_t i = 0; i < groups.varying.size(); ++i)
    if (i != key && !vary_together(groups, i, key)) others.push_back(i);
  return others;
}

// Returns whether two groups have the same values of keys, where both use them.
bool same_values(const SeedGroup& a, const SeedGroup& b, const Factor& keys) {
  return std::ranges::all_of(keys, [&](size_t key) {
    return a.values[key] == b.values[key] || a.values[key] == "-" || b.values[key] == "-";
  });
}

}  // namespace

std::optional<Setting> baseline_of(const EffectQuestion& question, const SeedGroups& groups) {
  if (question.baseline.empty()) return std::nullopt;
  const std::string option = fmt::format("--baseline {}", shortened(question.baseline));
  const size_t equals = question.baseline.find('=');
  check_input(
      equals != question.baseline.npos && equals > 0 && equals + 1 < question.baseline.size(),
      "{}: expected a key and its value, such as --baseline optim.lr=0.001", option);
  const size_t key = varying_key(option, question.baseline.substr(0, equals), groups);
  const std::string value = question.baseline.substr(equals + 1);
  std::vector<std::string> values;
  for (const SeedGroup& group : groups.groups) {
    if (is_value(value, group.values[key])) return Setting{key, group.values[key]};
    if (std::ranges::find(values, group.values[key]) == values.end())
      values.push_back(group.values[key]);
  }
  throw InputError(fmt::format("{}: no run has this value of {}; choose one of {}", option,
                               groups.varying[key], joined(values)));
}

void compare_with_baseline(const SeedGroups& groups, const std::vector<BySeed>& scores,
                           const Setting& baseline, Effects& effects) {
  effects.baseline = groups.varying[baseline.key];
  const Factor others = independent_of(baseline.key, groups);
  for (size_t i = 0; i < scores.size(); ++i) {
    if (groups.groups[i].values[baseline.key] == baseline.value) continue;
    std::vector<size_t> counterparts;
    for (size_t j = 0; j < scores.size(); ++j)
      if (groups.groups[j].values[baseline.key] == baseline.value &&
          same_values(groups.groups[i], groups.groups[j], others)) {
        const bool exact =
            values_of(groups.groups[i], others) == values_of(groups.groups[j], others);
        if (exact) counterparts = {j};
        if (exact) break;
        counterparts.push_back(j);
      }
    if (counterparts.size() == 1)
      effects.groups.push_back(compare_groups(groups, scores, counterparts[0], i, effects));
    else
      ++effects.without_baseline;
  }
  check_input(!effects.groups.empty(), "--baseline: no two groups differ in {} only",
              effects.baseline);
}

void interact(const SeedGroups& groups, const std::vector<BySeed>& scores,
              const EffectQuestion& question, const std::optional<Setting>& baseline,
              Effects& effects) {
  check_input(question.interaction.size() == 2,
              "--interaction {}: expected two keys, such as --interaction "
              "model.positional.kind,model.dim",
              shortened(joined(question.interaction, ",")));
  const std::string option = "--interaction " + joined(question.interaction, ",");
  check_input(question.interaction[0] != question.interaction[1], "{}: expected two different keys",
              option);
  const size_t a = varying_key(option, question.interaction[0], groups),
               b = varying_key(option, question.interaction[1], groups);
  check_input(!vary_together(groups, a, b),
              "{}: the two keys vary together, so their effects cannot be told apart", option);
  Factor others;
  for (const size_t key : independent_of(a, groups))
    if (key != b && !vary_together(groups, key, b)) others.push_back(key);
  // The value that differences are from, and the others in the order of the groups.
  const auto values_with_first = [&](size_t key) {
    Values values = {baseline && baseline->key == key ? baseline->value
                                                      : groups.groups[effects.first].values[key]};
    for (const SeedGroup& group : groups.groups)
      if (std::ranges::find(values, group.values[key]) == values.end())
        values.push_back(group.values[key]);
    return values;
  };
  std::map<Values, size_t> at;  // a group by the value of a, that of b, and those of the others
  std::vector<Values> settings;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i].empty()) continue;
    Values rest = values_of(groups.groups[i], others);
    if (std::ranges::find(settings, rest) == settings.end()) settings.push_back(rest);
    rest.insert(rest.begin(), {groups.groups[i].values[a], groups.groups[i].values[b]});
    at[rest] = i;
  }
  const Values of_a = values_with_first(a), of_b = values_with_first(b);
  effects.interactions.keys = {groups.varying[a], groups.varying[b]};
  for (size_t i = 1; i < of_a.size(); ++i)
    for (size_t j = 1; j < of_b.size(); ++j) {
      Contrasts contrasts;
      for (const Values& rest : settings) {
        const auto find = [&](const std::string& x, const std::string& y) {
          Values values = {x, y};
          values.insert(values.end(), rest.begin(), rest.end());
          const auto found = at.find(values);
          return found == at.end() ? std::optional<size_t>() : found->second;
        };
        const std::optional<size_t> cells[] = {find(of_a[0], of_b[j]), find(of_a[i], of_b[j]),
                                               find(of_a[0], of_b[0]), find(of_a[i], of_b[0])};
        const bool complete = std::ranges::all_of(cells, [&](const auto& cell) {
          return cell && data_of(groups, *cell) == data_of(groups, *cells[0]);
        });
        if (complete)
          contrasts.push_back({{&scores[*cells[0]], &scores[*cells[1]]},
                               Difference{&scores[*cells[2]], &scores[*cells[3]]}});
      }
      if (contrasts.empty()) continue;
      effects.interactions.values.push_back(
          {compare(contrasts, effects), {of_a[i], of_b[j]}, {of_a[0], of_b[0]}});
    }
  check_input(!effects.interactions.values.empty(),
              "{}: no four groups have two values of each key and the same values of all others",
              option);
  adjust(effects.interactions.values);
}

}  // namespace heed
