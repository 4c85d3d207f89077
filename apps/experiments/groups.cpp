#include "apps/experiments/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "apps/support/files.h"
#include "apps/support/numbers.h"
#include "apps/training/loop_state.h"
#include "apps/training/metrics.h"
#include "apps/training/saved_run.h"
#include "core/check.h"
#include "core/text.h"

namespace heed {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr int64_t max_result_bytes = 1 << 20;
constexpr size_t max_runs = 100'000;
constexpr int max_depth = 6;  // of folders below a path

using NamedScores = std::vector<std::pair<std::string, Json>>;

// Adds the members of an object, those of nested objects as "val.loss".
void flatten(const Json& json, const std::string& prefix, NamedScores& scores) {
  for (const auto& [name, value] : json.members())
    if (value.is_object())
      flatten(value, prefix + name + ".", scores);
    else
      scores.emplace_back(prefix + name, value);
}

NamedScores read_scores(const RunFolder& run) {
  NamedScores scores;
  if (const Json result = read_result(run); !result.is_null()) flatten(result, "", scores);
  return scores;
}

// Numbers in names are in the order of their values: seed-9 comes before seed-10.
void add_runs_in(const std::string& folder, int depth, std::vector<std::string>& runs) {
  std::vector<std::string> names = names_in_folder(folder);
  std::ranges::sort(names, [](const std::string& a, const std::string& b) {
    return ::strverscmp(a.c_str(), b.c_str()) < 0;
  });
  for (const std::string& name : names) {
    const std::string path = in_folder(folder, name);
    if (name.starts_with('.') || kind_of(path) != FileKind::folder) continue;
    if (exists(in_folder(path, "config.toml")))
      runs.push_back(path);
    else if (depth > 1)
      add_runs_in(path, depth - 1, runs);
    check_input(runs.size() <= max_runs, "{}: more than {} runs; name fewer", folder, max_runs);
  }
}

// Returns whether runs with different values of the key belong to different groups. Paths of data
// do separate them, for other data may be there.
bool separates(const std::string& key, const ConfigListing& config) {
  return key != "seed" && (key.starts_with("data.") || effect_of(key, config) != KeyEffect::none);
}

// Returns the values of all keys that separate groups.
std::string group_of(const ScoredRun& run) {
  return lines_of(run.config, [&](const std::string& key) { return separates(key, run.config); });
}

}  // namespace

Json read_result(const RunFolder& run) {
  if (!exists(run.result())) return {};
  Json result = Json::parse(read_file(run.result(), "result", max_result_bytes), run.result());
  check_input(result.is_object(), "{}: expected an object of scores", run.result());
  return result;
}

ScoredRun ScoredRun::load(const std::string& path) {
  const SavedRun run = SavedRun::open(path);
  const Experiment& experiment = run.config.experiment;
  return {run.folder, list_config(experiment), experiment.seed,
          fmt::format("val.{}", name_of(best_by_names, experiment.train.best_by)),
          read_scores(run.folder)};
}

const Json* ScoredRun::find(const std::string& score) const {
  const auto found = std::ranges::find(scores, score, [](const auto& each) { return each.first; });
  return found == scores.end() ? nullptr : &found->second;
}

std::optional<double> ScoredRun::number(const std::string& score) const {
  const Json* const value = find(score);
  if (!value || !value->is_number()) return std::nullopt;
  return value->number();
}

std::vector<std::string> runs_in(const std::string& folder) {
  std::vector<std::string> runs;
  add_runs_in(folder, max_depth, runs);
  return runs;
}

std::vector<std::string> find_runs(const std::vector<std::string>& paths) {
  std::vector<std::string> runs;
  for (const std::string& path : paths) {
    const size_t before = runs.size();
    if (is_folder(path) && !exists(in_folder(path, "config.toml")))
      std::ranges::copy(runs_in(path), std::back_inserter(runs));
    else
      runs.push_back(path);
    check_input(runs.size() > before, "{}: neither a run nor a folder of runs: no config.toml",
                path);
  }
  return runs;
}

std::vector<double> RunGroup::numbers(const std::string& score) const {
  std::vector<double> numbers;
  for (const ScoredRun& run : runs)
    if (const std::optional<double> number = run.number(score)) numbers.push_back(*number);
  return numbers;
}

std::optional<MeanInterval> RunGroup::mean(const std::string& score) const {
  const std::vector<double> all = numbers(score);
  if (all.empty()) return std::nullopt;
  return student_mean(all);
}

std::optional<double> RunGroup::best(const std::string& score) const {
  const std::vector<double> all = numbers(score);
  if (all.empty()) return std::nullopt;
  return lower_is_better(score) ? std::ranges::min(all) : std::ranges::max(all);
}

bool RunGroups::repeats_over_seeds() const {
  return std::ranges::any_of(groups, [](const RunGroup& group) { return group.runs.size() > 1; });
}

std::vector<std::string> score_names(const std::vector<ScoredRun>& runs) {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const ScoredRun& run : runs)
    for (const auto& [name, value] : run.scores)
      if (known.insert(name).second) names.push_back(name);
  return names;
}

std::vector<std::string> differing_keys(const std::vector<const ConfigListing*>& configs) {
  std::set<std::string> differing;
  std::vector<std::string> keys;
  if (configs.empty()) return keys;
  for (const ConfigListing* config : configs)
    for (const ConfigDifference& difference : config_differences(*configs[0], *config))
      differing.insert(difference.key);
  for (const ConfigSection& section : *configs[0])
    for (const ConfigEntry& entry : section.entries)
      if (differing.contains(entry.key)) keys.push_back(entry.key);
  return keys;
}

RunGroups group_runs(std::vector<ScoredRun> runs) {
  RunGroups result;
  std::map<std::string, size_t> index;  // by group_of()
  for (ScoredRun& run : runs) {
    const auto [found, is_new] = index.try_emplace(group_of(run), result.groups.size());
    if (is_new) result.groups.emplace_back();
    std::vector<ScoredRun>& group = result.groups[found->second].runs;
    const auto at = std::ranges::lower_bound(group, run.seed, {}, &ScoredRun::seed);
    if (at == group.end() || at->seed != run.seed) {
      group.insert(at, std::move(run));
      continue;
    }
    if (at->scores.empty()) std::swap(*at, run);
    result.repeats.push_back(run.folder.path());
  }
  std::vector<const ConfigListing*> configs;
  for (const RunGroup& group : result.groups) configs.push_back(&group.runs[0].config);
  for (const std::string& key : differing_keys(configs))
    if (separates(key, *configs[0])) result.varying.push_back(key);
  for (RunGroup& group : result.groups)
    for (const std::string& key : result.varying)
      group.values.push_back(value_of(group.runs[0].config, key));
  return result;
}

ScoreTarget ScoreTarget::parse(const std::string& text) {
  const size_t equals = text.rfind('=');

  const bool has_both = equals != text.npos && equals > 0;
  const double value = number_of_text(has_both ? text.substr(equals + 1) : "").value_or(NAN);
  check_input(std::isfinite(value),
              "--target {}: expected a score and a value, such as val.loss=1.88", in_quotes(text));
  return {text.substr(0, equals), value};
}

bool ScoreTarget::is_reached_by(double number) const {
  return lower_is_better(score) ? number <= value : number >= value;
}

std::optional<Reached> reached(const RunFolder& run, const ScoreTarget& target) {
  bool has_score = false;
  Reached result{never, never};
  for_each_row(read_metrics(run.metrics()), [&](std::string_view text, int64_t line) {
    const Json row = Json::parse(text, fmt::format("{}:{}", run.metrics(), line));
    const Json* const value = row.find_path(target.score);
    if (!value || !value->is_number()) return;
    has_score = true;
    if (result.steps < never || !target.is_reached_by(value->number())) return;
    result.steps = row.at("step").number();
    const Json* const seconds = row.find("seconds");
    result.seconds =
        seconds && seconds->is_number() ? std::optional(seconds->number()) : std::nullopt;
  });
  if (!has_score) return std::nullopt;
  return result;
}

std::optional<Reached> median_reached(const RunGroup& group, const ScoreTarget& target) {
  std::vector<double> steps, seconds;
  for (const ScoredRun& run : group.runs)
    if (const std::optional<Reached> each = reached(run.folder, target)) {
      steps.push_back(each->steps);
      if (each->seconds) seconds.push_back(*each->seconds);
    }
  if (steps.empty()) return std::nullopt;
  const bool has_seconds = seconds.size() == steps.size();
  return Reached{median_of(steps), has_seconds ? std::optional(median_of(seconds)) : std::nullopt};
}

std::vector<Comparison> compare_with_first(const RunGroups& groups, const std::string& score) {
  std::vector<Comparison> comparisons;
  std::map<int64_t, double> first;  // by seed
  if (groups.groups.empty()) return comparisons;
  for (const ScoredRun& run : groups.groups[0].runs)
    if (const std::optional<double> number = run.number(score)) first[run.seed] = *number;
  std::vector<double> p;
  for (size_t i = 1; i < groups.groups.size(); ++i) {
    Comparison comparison{i, {}, std::nan(""), {-never, never}};
    std::vector<double> differences;
    for (const ScoredRun& run : groups.groups[i].runs) {
      const std::optional<double> number = run.number(score);
      if (!number || !first.contains(run.seed)) continue;
      comparison.seeds.push_back(run.seed);
      differences.push_back(*number - first[run.seed]);
    }
    if (!differences.empty()) {
      comparison.difference = student_mean(differences).mean;
      comparison.interval = bca_interval(differences);
      comparison.p = sign_flip_p(differences);
      p.push_back(comparison.p);
    }
    comparisons.push_back(std::move(comparison));
  }
  const std::vector<double> adjusted = holm(p);
  auto next = adjusted.begin();
  for (Comparison& comparison : comparisons)
    if (!comparison.seeds.empty()) comparison.adjusted_p = *next++;
  return comparisons;
}

std::optional<size_t> best_group(const RunGroups& groups, const std::string& score) {
  std::optional<size_t> best;
  double best_mean = 0;
  for (size_t i = 0; i < groups.groups.size(); ++i) {
    const std::optional<MeanInterval> mean = groups.groups[i].mean(score);
    if (!mean) continue;
    if (!best || is_better(score, mean->mean, best_mean)) best_mean = mean->mean, best = i;
  }
  return best;
}

}  // namespace heed
