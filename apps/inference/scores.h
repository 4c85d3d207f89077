// The scores of a model on a split: from an evaluation to metrics.jsonl and result.json, and back.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/config/experiment.h"
#include "apps/inference/evaluation.h"
#include "apps/inference/positions.h"
#include "apps/inference/predictions.h"
#include "apps/support/json.h"
#include "data/corpus.h"

namespace heed {

// Returns a split by name. Throws InputError, with the names of all splits, if there is none.
const Dataset& split_of(const Corpus& corpus, const std::string& split);
// Returns `split`, or if it is empty "test", or "val" if there is no "test".
std::string split_or_default(const Corpus& corpus, const std::string& split);

// The scores of a kind of examples: those of a group, of one length, …
struct KindScores {
  std::string kind;
  int64_t examples = 0, correct = 0;         // that have a target; whose targets all are predicted
  int64_t targets = 0, correct_targets = 0;  // by position examples are targets
  double loss = 0;                           // sum over targets

  void add(const Outcome& outcome);
  double fraction(const Score& score) const;  // exact match or token accuracy
  double mean_loss() const;
};
// Returns the scores of each value of a group of this name, in the order of the numbers in them; of
// no name: of all groups, as "length 12".
std::vector<KindScores> scores_of_groups(const std::vector<Outcome>& outcomes, const Corpus& corpus,
                                         const std::optional<std::string>& name = {});

// Returns the scores of the targets at each position that has one.
std::map<int64_t, KindScores> scores_by_position(const std::vector<TargetOutcome>& targets);

struct Scores {
  std::map<const Score*, double> values = {};  // of the scores that the split has
  // Those of groups of examples: "loss[length 12]", "exact_match[length 12]", "examples[length 12]"
  std::vector<std::pair<std::string, double>> of_groups = {};
  std::optional<int64_t> examples = {}, targets = {};
  std::optional<int64_t> outputs_without_4grams = {};  // beside BLEU

  std::optional<double> find(const Score& score) const;
  // Calls f(name, value) for each number, in the order of files. Counts are int64_t, scores double.
  template <class F>
  void visit(F&& f) const {
    const auto visit_scores = [&](bool reads_outputs) {
      for (const Score* const score : scores::all)
        if (score->reads_outputs == reads_outputs && values.contains(score))
          f(score->name, values.at(score));
    };
    visit_scores(false);
    if (examples) f("examples", *examples);
    if (targets) f("targets", *targets);
    visit_scores(true);
    if (outputs_without_4grams) f("outputs_without_4grams", *outputs_without_4grams);
    for (const auto& [name, value] : of_groups)
      if (name.starts_with("examples["))
        f(name.c_str(), static_cast<int64_t>(value));
      else
        f(name.c_str(), value);
  }
  Json json() const;
  // Reads what json() returns. Leaves out members that it does not know. Throws InputError if
  // another one is not a number.
  static Scores from(const Json& json);
};

// What is asked about a split.
struct ScoreRequest {
  bool outputs = true;   // also scores that read outputs, as BLEU and chrF do
  bool details = false;  // the results of examples and targets
  bool predictions = false;
  std::optional<PositionRange> positions = {};  // of the targets that count; none: all of them
  int64_t beam = 1;  // of an encoder-decoder; wider than 1, exact_match is that of its outputs
};
struct SplitScores : EvaluationDetails {
  Scores scores = {};                        // those that the experiment offers
  std::vector<Prediction> predictions = {};  // for each example
};
// Scores a split together with other ranks (core/ranks.h), which all get the same. Throws
// InputError if the corpus has no such split, or no target at the positions. Throws Error if a
// score is infinite or NaN, but only where outputs are asked for: a training that diverges stops in
// another place.
SplitScores score_split(const Model& model, const Corpus& corpus, const Experiment& experiment,
                        const std::string& split, const ScoreRequest& request = {});
// The counts of predicted labels for each expected one: {"labels": […], "counts": [[…], …]}.
Json confusion(const std::vector<std::string>& labels, const std::vector<Outcome>& outcomes);
struct ErrorCount {
  int64_t examples = 0, errors = 0;
};
// Returns the errors by the length of the source, which source_lengths() returns.
std::map<int64_t, ErrorCount> errors_by_length(const std::vector<Outcome>& outcomes,
                                               const std::vector<int64_t>& lengths);
// Returns a value as tables show it: "98.20 %".
std::string score_text(const Score& score, double value);
// Returns the score that a name such as "val.loss" ends with; null: there is none.
const Score* find_score(const std::string& name);
// Returns the splits that are evaluated at the end of a run: all but "train".
std::vector<std::string> measured_splits(const Corpus& corpus);

using ScoresOfSplits = std::vector<std::pair<std::string, Scores>>;  // by name
// Returns a table with a row for each split and a column for each score, for print_escaped().
std::string scores_table(const ScoresOfSplits& splits);

}  // namespace heed
