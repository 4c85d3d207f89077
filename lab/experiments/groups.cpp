#include "lab/experiments/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "apps/support/digest.h"
#include "apps/support/files.h"
#include "apps/support/names.h"
#include "apps/support/numbers.h"
#include "apps/training/result.h"
#include "apps/training/run_record.h"
#include "apps/training/saved_run.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/suggest.h"
#include "lab/experiments/curves.h"
#include "lab/experiments/score_kinds.h"
#include "lab/experiments/student.h"

namespace heed {
namespace {

// Returns the scores of the result, and what train.measures measured: of each number the last one
// up to the best step.
std::vector<NamedScore> read_scores(const RunFolder& run, const Experiment& experiment) {
  std::vector<NamedScore> scores;
  const std::optional<TrainingResult> result = read_result(run);
  if (!result) return scores;
  result->visit([&](const std::string& name, auto value) { scores.emplace_back(name, value); });
  const std::vector<std::string>& measures = experiment.train.measures;
  if (measures.empty() || !result->best_step) return scores;
  const auto best_step = static_cast<double>(*result->best_step);
  for (const Curve& curve : read_curves(run.metrics()).curves) {
    const std::string measure = curve.name.substr(0, curve.name.find('.'));
    if (measure != "train" && std::ranges::find(measures, measure) == measures.end()) continue;
    const auto after = std::ranges::upper_bound(curve.steps, best_step);
    if (after != curve.steps.begin())
      scores.emplace_back(curve.name,
                          curve.values[static_cast<size_t>(after - curve.steps.begin()) - 1]);
  }
  return scores;
}

std::string data_of(const RunFolder& run, const Experiment& experiment) {
  return experiment.data.kind->is_task() ? "" : recorded_data(run, experiment.data);
}

std::string tokenizer_of(const RunFolder& run, const Experiment& experiment) {
  const std::string& path = experiment.data.tokenizer;
  return path.empty() ? "" : exists(run.vocabulary()) ? sha256_of_file(run.vocabulary()) : path;
}

// Returns why a run failed; "" unless it did.
std::string failure_of(const std::string& path, RunState state) {
  if (state != RunState::failed) return "";
  try {
    return error_of(path);
  } catch (const InputError&) {
    return "its error.txt cannot be read";
  }
}

// A value as TOML, but a string without its quotes, if it has characters and none that TOML
// escapes.
std::string plain_text(const ConfigEntry& entry) {
  const auto* const string = std::get_if<std::string>(&entry.value);
  const std::string text = entry.text();
  const bool plain =
      string && !string->empty() && entry.later.empty() && text.size() == string->size() + 2;
  return plain ? *string : text;
}

// Returns the data of a run and the values of all keys that separate groups.
std::string group_of(const ScoredRun& run) {
  const std::string settings = lines_of(run.config, [](const ConfigEntry& entry) {
    return entry.key != "seed" && entry.changes_result() && entry.is_used;
  });
  return fmt::format("{}\ndata {}\ntokenizer {}\n", settings, run.data, run.tokenizer);
}

// Returns the number of examples that a score of a split is measured on; 0: unknown.
int64_t examples_of(const SeedGroup& group, const std::string& score) {
  const std::string whole = without_group(score), of_group = score.substr(whole.size());
  const auto counts = group.numbers(whole.substr(0, whole.rfind('.') + 1) + "examples" + of_group);
  return counts.empty() ? 0 : std::llround(std::ranges::min(counts));
}

}  // namespace

ScoredRun ScoredRun::load(const std::string& path) {
  const SavedRun run = SavedRun::open(path);
  const Experiment& experiment = run.config.experiment;
  const RunState state = state_of(path);
  return {run.folder,
          config_with_changes(segments_of(run.folder, experiment)),
          experiment.seed,
          fmt::format("val.{}", experiment.train.best_by->name),
          data_of(run.folder, experiment),
          tokenizer_of(run.folder, experiment),
          read_scores(run.folder, experiment),
          state,
          failure_of(path, state)};
}

std::vector<ScoredRun> load_runs(const std::vector<std::string>& paths) {
  return of_undamaged(paths, ScoredRun::load);
}

std::string ScoredRun::value(const std::string& key) const {
  if (key == data_key) return data;
  const ConfigEntry* const entry = find_entry(config, key);
  return !entry ? "" : entry->is_used ? plain_text(*entry) : "-";
}

const NamedScore* ScoredRun::find(const std::string& score) const {
  const auto found = std::ranges::find(scores, score, &NamedScore::name);
  return found == scores.end() ? nullptr : &*found;
}

std::optional<double> ScoredRun::number(const std::string& score) const {
  const NamedScore* const found = find(score);
  return found && std::isfinite(found->value) ? std::optional(found->value) : std::nullopt;
}

std::vector<double> SeedGroup::numbers(const std::string& score) const {
  std::vector<double> numbers;
  for (const ScoredRun& run : runs)
    if (const std::optional<double> number = run.number(score)) numbers.push_back(*number);
  return numbers;
}

int64_t SeedGroup::failed() const {
  return std::ranges::count(runs, RunState::failed, &ScoredRun::state);
}

std::optional<double> SeedGroup::best(const std::string& score) const {
  const std::vector<double> all = numbers(score);
  if (all.empty()) return std::nullopt;
  return lower_is_better(score) ? std::ranges::min(all) : std::ranges::max(all);
}

bool SeedGroups::repeats_over_seeds() const {
  return std::ranges::any_of(groups, [](const SeedGroup& group) { return group.runs.size() > 1; });
}

IntervalKind SeedGroups::interval_kind(const std::string& score) const {
  const double most = maximum_of(score);
  bool several = false, differ = false, bounded = std::isfinite(most), counts = false;
  for (const SeedGroup& group : groups) {
    const std::vector<double> all = group.numbers(score);
    several = several || all.size() > 1;
    differ = differ || !are_equal(all);
    bounded = bounded && std::ranges::all_of(all, [&](double x) { return x >= 0 && x <= most; });
    counts = counts || examples_of(group, score) > 0;
  }
  if (!bounded) return several && has_intervals() ? IntervalKind::student : IntervalKind::none;
  if (differ) return has_intervals() ? IntervalKind::logit : IntervalKind::none;
  return most == 1 && counts ? IntervalKind::wilson  // BLEU and chrF are no fractions of examples
                             : IntervalKind::none;
}

std::optional<MeanInterval> SeedGroups::mean(size_t group, const std::string& score) const {
  const std::vector<double> all = groups.at(group).numbers(score);
  if (all.empty()) return std::nullopt;
  const IntervalKind kind = interval_kind(score);
  const int64_t examples = examples_of(groups[group], score);
  if (kind == IntervalKind::student) return student_mean(all);
  if (kind == IntervalKind::logit && !are_equal(all)) return logit_mean(all, maximum_of(score));
  if (kind == IntervalKind::wilson && examples > 0) return wilson_mean(all, examples);
  return MeanInterval{
      std::ssize(all), student_mean(all).mean, INFINITY, {-INFINITY, INFINITY}, IntervalKind::none};
}

std::vector<std::string> SeedGroups::failures() const {
  constexpr size_t most = 3;
  std::vector<std::pair<std::string, std::vector<std::string>>> errors;  // each with its runs
  int64_t failed = 0, all = 0;
  for (const SeedGroup& group : groups)
    for (const ScoredRun& run : group.runs) {
      ++all;
      if (run.state != RunState::failed) continue;
      ++failed;
      auto known =
          std::ranges::find(errors, run.error, [](const auto& each) { return each.first; });
      if (known == errors.end()) known = errors.insert(known, {run.error, {}});
      known->second.push_back(run.folder.path());
    }
  if (failed == 0) return {};
  std::vector<std::string> lines = {
      fmt::format("{} of {} failed and {} no scores: a mean leaves out the runs that went worst, "
                  "so it is biased towards the better",
                  failed, counted(all, "run"), failed == 1 ? "has" : "have")};
  for (size_t i = 0; i < std::min(most, errors.size()); ++i) {
    const auto& [error, runs] = errors[i];
    const std::string others =
        runs.size() > 1 ? fmt::format(" and {}", counted(std::ssize(runs) - 1, "other run")) : "";
    lines.push_back(fmt::format("failed: {}{}: {}", runs[0], others, error));
  }
  if (errors.size() > most)
    lines.emplace_back(
        "other runs failed for other reasons: compare --runs --json has the error of each");
  return lines;
}

void check_any_survives(const std::vector<ScoredRun>& runs) {
  const bool all =
      std::ranges::all_of(runs, [](const ScoredRun& run) { return run.state == RunState::failed; });
  check_input(!all || runs.empty(), "{}: nothing to compare; the first is {}: {}",
              runs.size() == 1 ? "the run failed" : fmt::format("all {} runs failed", runs.size()),
              runs.empty() ? "" : runs[0].folder.path(), runs.empty() ? "" : runs[0].error);
}

std::vector<std::string> score_names(const std::vector<ScoredRun>& runs) {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const ScoredRun& run : runs)
    for (const NamedScore& each : run.scores)
      if (known.insert(each.name).second) names.push_back(each.name);
  return names;
}

void check_has_score(const char* option, const std::vector<std::string>& names,
                     const std::string& score) {
  std::vector<std::string> listed = names;
  std::erase_if(listed, is_of_part);
  check_input(std::ranges::find(names, score) != names.end(),
              "{} {}: no run has such a score; choose one of {}{}", option, score,
              listed.empty() ? "none" : joined(listed), did_you_mean(score, names));
}

std::vector<std::string> differing_keys(const std::vector<const ScoredRun*>& runs) {
  std::vector<std::string> keys, paths;
  if (runs.empty()) return keys;
  const auto differ = [&](auto member) {
    return std::ranges::any_of(
        runs, [&](const ScoredRun* run) { return run->*member != runs[0]->*member; });
  };
  const bool keeps = std::ranges::any_of(
      runs, [](const ScoredRun* run) { return run->value("data.keep") == "true"; });
  const bool data = differ(&ScoredRun::data), tokenizers = differ(&ScoredRun::tokenizer);
  for (const ConfigEntry& entry : list_config(Experiment())) {
    const ConfigEntry* first = nullptr;  // of those that use it
    const bool one_value = std::ranges::all_of(runs, [&](const ScoredRun* run) {
      const ConfigEntry* const own = find_entry(run->config, entry.key);
      if (!first && own->is_used) first = own;
      return !own->is_used || own->has_value_of(*first);
    });
    if (one_value) continue;
    const bool is_path = entry.effect == Field::Effect::data;
    const bool is_tokenizer = entry.key == "data.tokenizer";
    // The paths of copies in the folders of runs say nothing about the data.
    if (is_path && !(is_tokenizer ? tokenizers : data && !keeps)) continue;
    keys.push_back(entry.key);
    if (is_path && !is_tokenizer) paths.push_back(entry.key);
  }
  std::map<std::string, std::string> data_at;  // these paths
  for (const ScoredRun* run : runs) {
    std::string location;
    for (const std::string& key : paths) location += run->value(key) + "\n";
    if (data_at.try_emplace(location, run->data).first->second == run->data) continue;
    keys.emplace_back(data_key);
    break;
  }
  return keys;
}

SeedGroups group_runs(std::vector<ScoredRun> runs) {
  SeedGroups result;
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
  std::vector<const ScoredRun*> firsts;
  for (const SeedGroup& group : result.groups) firsts.push_back(&group.runs[0]);
  for (const std::string& key : differing_keys(firsts))
    if (key != "seed" && effect_of(firsts[0]->config, key) != Field::Effect::none)
      result.varying.push_back(key);
  for (SeedGroup& group : result.groups)
    for (const std::string& key : result.varying) group.values.push_back(group.runs[0].value(key));
  return result;
}

BestGroup best_group(const SeedGroups& groups, const std::string& score) {
  BestGroup best;
  size_t most = 1;  // seeds
  for (const SeedGroup& group : groups.groups) most = std::max(most, group.numbers(score).size());
  double best_mean = 0;
  for (size_t i = 0; i < groups.groups.size(); ++i) {
    const std::optional<MeanInterval> mean = groups.mean(i, score);
    if (!mean) continue;
    if (mean->n < static_cast<int64_t>(most))
      best.left_out.push_back(i);
    else if (!best.index || is_better(score, mean->mean, best_mean))
      best_mean = mean->mean, best.index = i;
  }
  return best;
}

}  // namespace heed
