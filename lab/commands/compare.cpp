// heed compare: the config keys in which runs differ and their scores; where runs repeat over
// seeds, with statistics.
#include <fmt/format.h>

#include <algorithm>

#include "apps/cost/summary.h"
#include "apps/inference/kinds.h"
#include "apps/inference/scores.h"
#include "apps/support/files.h"
#include "apps/support/names.h"
#include "apps/support/terminal.h"
#include "apps/training/saved_run.h"
#include "core/system_memory.h"
#include "lab/commands/room.h"
#include "lab/experiments/comparison.h"
#include "lab/experiments/group_curves.h"

namespace heed {
namespace {

struct CompareArguments final : CommandArguments {
  std::vector<std::string> paths;
  std::optional<std::string> target;
  ComparisonOptions requested;
  std::string by, split, curves;
  bool json = false, csv = false, markdown = false, latex = false;

  std::vector<Option> options() override {
    return {{"RUN...", "", &paths, "Runs, or folders of runs, such as those of a sweep"},
            {"--target", "SCORE=VALUE", &target,
             "Show the steps and seconds until a score of metrics.jsonl is reached, such as "
             "val.loss=1.88; for several seeds the median"},
            score_option(requested.score),
            columns_option(requested.columns),
            {"--baseline", "KEY=VALUE", &requested.question.baseline,
             "Compare each group with the one that differs from it in this key only (default: with "
             "the first group)"},
            {"--interaction", "KEY,KEY", &requested.question.interaction,
             "Also test whether the effect of the first key depends on the second"},
            {"--by", "REGEX|length", &by,
             "Evaluate every run, and show the exact match of each kind of examples: what this "
             "regular expression, or its first group, matches in the source, or its length"},
            {"--split", "NAME", &split, "Split for --by (default: test, else val)"},
            {"--curves", "FILE", &curves,
             "Also write the curve of --score as CSV: group, step, mean, 95 % interval and n"},
            {"--runs", "", &requested.by_run,
             "List every run with its keys, seed, state and scores; do not group seeds"},
            json_option(json),
            {"--csv", "", &csv, "Print CSV"},
            {"--markdown", "", &markdown, "Print Markdown"},
            {"--latex", "", &latex, "Print LaTeX, for the package booktabs"}};
  }
  int run() const override;
};

// --by: evaluates the best checkpoint of every run that is done on a split of its data ("": test,
// or val if there is no test). Adds the exact match of each kind of examples to its scores, as
// "test[12].exact_match", and their number, as "test[12].examples". Returns the names of the exact
// matches. `by`: see Kinds (apps/inference/kinds.h). Throws InputError if a run has no exact match,
// or if its data are missing or have changed.
std::vector<std::string> add_kind_scores(std::vector<ScoredRun>& runs, const std::string& by,
                                         const std::string& split) {
  const Kinds kinds(by);
  std::vector<std::string> names;
  for (ScoredRun& scored : runs) {
    if (scored.state != RunState::done) continue;
    const SavedRun run = SavedRun::open(scored.folder.path());
    const Experiment& experiment = run.config.experiment;
    check_input(has_exact_match(experiment), "--by: the examples of {} have no expected output",
                scored.folder.path());
    apply_settings(experiment);
    const LoadedRun loaded(run, "", LoadedRun::Needs::data);
    const ScopeGuard here;
    loaded.apply(here);
    const Corpus& corpus = loaded.corpus;
    const std::string chosen = split_or_default(corpus, split);
    const Dataset& dataset = split_of(corpus, chosen);
    check_evaluation_memory(experiment, corpus, chosen, available_memory());
    const TrainOptions& train = experiment.train;
    std::vector<Outcome> outcomes;
    evaluate(*loaded.model, dataset, corpus.framing, train.evaluation_batch(), &outcomes);
    for (const KindScores& each : kinds.scores(outcomes, corpus, dataset)) {
      const std::string kind = fmt::format("{}[{}].", chosen, each.kind);
      scored.scores.emplace_back(kind + "exact_match", each.exact_match());
      scored.scores.emplace_back(kind + "examples", each.examples);
      if (std::ranges::find(names, kind + "exact_match") == names.end())
        names.push_back(kind + "exact_match");
    }
  }
  std::ranges::sort(names, comes_before);
  return names;
}

int CompareArguments::run() const {
  check_input(json + csv + markdown + latex <= 1,
              "--json, --csv, --markdown and --latex: choose one");
  const bool asks = !requested.question.baseline.empty() || !requested.question.interaction.empty();
  check_input(!requested.by_run || !asks,
              "--runs lists single runs; leave out --baseline and --interaction");
  check_input(split.empty() || !by.empty(), "--split is for --by");
  ComparisonOptions options = requested;
  if (target) options.target = ScoreTarget::parse(*target);
  options.format = json       ? TableFormat::json
                   : csv      ? TableFormat::csv
                   : markdown ? TableFormat::markdown
                   : latex    ? TableFormat::latex
                              : TableFormat::text;
  const std::string curves_file = curves.empty() ? "" : output_path(curves, {".csv"});
  std::vector<ScoredRun> runs;
  for (const std::string& path : find_runs(paths)) runs.push_back(ScoredRun::load(path));
  if (!by.empty()) {
    const std::vector<std::string> names = add_kind_scores(runs, by, split);
    if (options.columns.empty()) options.columns = names;
  }
  if (!curves.empty()) {
    check_input(!runs.empty(), "there are no runs");
    const std::string score = options.score.empty() ? runs[0].chosen_by : options.score;
    write_file(curves_file, curves_csv(group_runs(runs), score));
  }
  const std::string text = comparison_of(std::move(runs), options);
  options.format == TableFormat::text ? print_wrapped(text) : print(text);
  return exit_done;
}

}  // namespace

const Command lab_commands::compare = {
    .name = "compare",
    .summary = "Compare the configs and scores of runs, with statistics over seeds",
    .details =
        "Runs that differ only in the seed become one row: mean and 95 % interval of each score.\n"
        "Further groups are compared with the first, paired by seed: losses by ratios, accuracies\n"
        "by differences. If two or more keys vary, heed first answers for each key.\n\n"
        "Examples:\n"
        "  heed compare runs/shallow runs/deep --csv > scores.csv\n"
        "  heed compare runs/sweep --baseline model.positional.kind=sinusoidal\n"
        "  heed compare runs/sweep --target val.loss=1.88",
    .arguments = make_arguments<CompareArguments>,
};

}  // namespace heed
