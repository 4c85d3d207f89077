// Runs and their scores, in groups that differ only in the seed.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/config/config.h"
#include "apps/config/experiment.h"
#include "apps/support/files.h"
#include "apps/support/json.h"
#include "apps/support/log.h"
#include "apps/training/run_folder.h"
#include "core/check.h"
#include "lab/experiments/run_state.h"
#include "lab/experiments/statistics.h"

namespace heed {

// A number of a run: "steps", "val.loss", "heads.1.0.induction".
struct NamedScore {
  NamedScore(std::string n, double v) : name(std::move(n)), value(v) {}
  NamedScore(std::string n, int64_t v)
      : name(std::move(n)), value(static_cast<double>(v)), is_count(true) {}

  std::string name;
  double value;  // perhaps infinite or NaN
  bool is_count = false;

  Json json() const { return is_count ? Json(static_cast<int64_t>(value)) : Json(value); }
};

struct ScoredRun {
  RunFolder folder;
  ConfigListing config;
  int64_t seed = 0;
  std::string chosen_by;  // the score that decides which checkpoint is the best: "val.loss"
  // What its data files contain, wherever they are: files_fingerprint() (data/corpus.h). "" for a
  // generated task.
  std::string data;
  std::string tokenizer;  // SHA-256 of the vocabulary of data.tokenizer; "" without that key
  // Those of result.json: "steps", "seconds", …, "val.loss", …; empty until the run is done. Then
  // the numbers of train.measures at the best step: "train.loss", "heads.1.0.induction", …
  std::vector<NamedScore> scores;
  RunState state = RunState::none;
  std::string error;  // why it failed: "step 21: the loss is NaN; …"; "" unless it did

  // Throws InputError if the folder holds no run, or if config.toml, result.json or the record of
  // the data is damaged.
  static ScoredRun load(const std::string& path);
  // Returns the value of a key as TOML, a string without its quotes; "-" if the run does not use
  // it; the fingerprint of the data for data_key.
  std::string value(const std::string& key) const;
  const NamedScore* find(const std::string& score) const;  // nullptr if there is no such score
  std::optional<double> number(const std::string& score) const;  // none if it is not a finite one
};

// The name beside the keys of a config under which runs differ if their data files have the same
// paths and other contents.
inline constexpr const char* data_key = "data";

// Returns the runs in a folder and the folders below it, in the order of their names and of the
// numbers in them. Follows no links. Throws InputError if there are more than 100,000.
std::vector<std::string> runs_in(const std::string& folder);
// Replaces each path that is not a run by runs_in() it. The runs in the folder of a sweep are in
// the order of its points, the axes and values of sweep.toml; runs of no point come last. Throws
// InputError if there is no run, or if sweep.toml is damaged.
std::vector<std::string> find_runs(const std::vector<std::string>& paths);

// Returns f(path) of each run, such as ScoredRun::load(). Of several runs it leaves out those that
// are damaged, and logs a warning for each. Throws the InputError of the first run if none is left,
// and of a path that is no run.
template <class F>
auto of_undamaged(const std::vector<std::string>& paths, const F& f) {
  std::vector<decltype(f(std::string()))> results;
  std::optional<InputError> first;
  std::vector<std::string> left_out;
  for (const std::string& path : paths) try {
      results.push_back(f(path));
    } catch (const InputError& error) {
      if (!is_run(path)) throw;
      left_out.push_back(fmt::format("left out {}: {}", path, error.what()));
      if (!first) first = error;
    }
  if (results.empty() && first) throw InputError(*first);
  for (const std::string& each : left_out) logging::warning("{}", each);
  return results;
}
std::vector<ScoredRun> load_runs(const std::vector<std::string>& paths);

// Runs that differ only in the seed, one for each seed, ascending.
struct SeedGroup {
  std::vector<ScoredRun> runs;
  std::vector<std::string> values;  // of SeedGroups::varying: ScoredRun::value()

  // The score of each run that has it.
  std::vector<double> numbers(const std::string& score) const;
  int64_t failed() const;  // runs
  std::optional<double> best(const std::string& score) const;
};

struct SeedGroups {
  std::vector<std::string> varying;  // the config keys in which groups differ, perhaps data_key
  std::vector<SeedGroup> groups;     // in the order of their first runs
  std::vector<std::string> repeats;  // runs left out: config and seed are those of another run

  bool repeats_over_seeds() const;  // whether a group has more than one run
  // Returns the kind of interval that the means of a score have in all groups. student: of scores
  // without a maximum. Of scores with one, such as accuracies, logit if the seeds of any group
  // differ; else wilson of a fraction of examples. none: without an interval.
  IntervalKind interval_kind(const std::string& score) const;
  // Returns the mean over the runs of a group that have the score, with an interval of that kind;
  // none if no run has it. It has no interval if it is of one run, or logit and its seeds do not
  // differ.
  std::optional<MeanInterval> mean(size_t group, const std::string& score) const;
  // Returns what a reader must know about runs that failed: how many, that means leave them out,
  // and the errors of the first three. Empty if none failed.
  std::vector<std::string> failures() const;
};
// Throws InputError if every run has failed, with the error of the first.
void check_any_survives(const std::vector<ScoredRun>& runs);
// Groups runs by their data and by the values of all keys except the seed. Keys that change no
// result, such as threads, do not count (ConfigEntry::effect), nor does where a data
// file lies, nor do keys that a run does not use (ConfigEntry::is_used).
SeedGroups group_runs(std::vector<ScoredRun> runs);

// Returns the names of all scores, in the order of result.json.
std::vector<std::string> score_names(const std::vector<ScoredRun>& runs);
// Throws InputError if the names of all scores have no such one.
void check_has_score(const char* option, const std::vector<std::string>& names,
                     const std::string& score);
// Returns the keys in which those runs differ that use them, in the order of the config. The path
// of a data file counts only if the data differ. Ends with data_key if the data differ and no path
// shows it.
std::vector<std::string> differing_keys(const std::vector<const ScoredRun*>& runs);

// A score that a run shall reach.
struct ScoreTarget {
  std::string score;
  double value = 0;

  // Reads "val.loss=1.88". Throws InputError.
  static ScoreTarget parse(const std::string& text);
  bool is_reached_by(double number) const;
};
// When runs reached a target for the first time: one run, or the median over the runs of a group.
struct Reached {
  double steps = 0;                    // infinity: never
  std::optional<double> seconds = {};  // none if the metrics do not have them
  double last_step = 0;                // the largest step trained
  double last_seconds = 0;             // the longest time trained
  int64_t runs = 1;                    // whose metrics have the score
  int64_t reached = 0;                 // those that reached the target
};
// None if the metrics have no such score. Throws InputError for damaged metrics.
std::optional<Reached> reached(const RunFolder& run, const ScoreTarget& target);
// Returns the medians over the runs of a group. A run that never reached the target counts as later
// than all others, so a median that falls on it, or next to it, is infinity.
std::optional<Reached> median_reached(const SeedGroup& group, const ScoreTarget& target);
std::optional<Reached> median_reached(const std::vector<Reached>& runs);  // none if empty

// The group with the best mean of a score, among those that have it for as many seeds as any group.
struct BestGroup {
  std::optional<size_t> index;  // none if no group has the score
  // Groups that have it for fewer seeds, such as those with a failed run. Their mean may be better
  // by chance.
  std::vector<size_t> left_out;
};
BestGroup best_group(const SeedGroups& groups, const std::string& score);

}  // namespace heed
