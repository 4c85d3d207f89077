// heed compare: the config keys in which runs differ and their scores; where runs repeat over
// seeds, with statistics.
#include <fmt/format.h>

#include <algorithm>
#include <unistd.h>

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

constexpr size_t default_width = 80;  // of a table in a file or a pipe

struct CompareArguments final : CommandArguments {
  std::vector<std::string> paths;
  std::optional<std::string> target;
  ComparisonOptions requested;
  std::string by, split, curves;
  bool json = false, csv = false, markdown = false, latex = false;

  std::vector<Option> options() override {
    return {
        {"RUN...", "", &paths, "Runs, or folders of runs, such as those of a sweep"},
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
         "Evaluate every run, and show the exact match, or the loss without an expected output, "
         "of each kind of examples: what this regular expression, or its first group, matches in "
         "the source, or its length"},
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
// or val if there is no test). Adds the loss of each kind of examples, and the exact match if the
// examples have an expected output, to its scores, as "test[12].exact_match", and their number, as
// "test[12].examples". Returns the names of the exact matches, or of the losses: first the one of
// the whole split. `by`: see Kinds (apps/inference/kinds.h). Throws InputError if the data of a run
// are missing or have changed.
std::vector<std::string> add_kind_scores(std::vector<ScoredRun>& runs, const std::string& by,
                                         const std::string& split) {
  const Kinds kinds(by);
  std::vector<std::string> wholes, names;
  const auto add_name = [](std::vector<std::string>& list, const std::string& name) {
    if (std::ranges::find(list, name) == list.end()) list.push_back(name);
  };
  for (ScoredRun& scored : runs) {
    if (scored.state != RunState::done) continue;
    const SavedRun run = SavedRun::open(scored.folder.path());
    const Experiment& experiment = run.config.experiment;
    apply_settings(experiment);
    const TrainedModel loaded(run, "", TrainedModel::Needs::data);
    const ScopeGuard here;
    loaded.apply(here);
    const Corpus& corpus = loaded.corpus;
    const std::string chosen = split_or_default(corpus, split);
    check_evaluation_memory(experiment, corpus, chosen, available_memory());
    const SplitScores details = score_split(*loaded.model, corpus, experiment, chosen,
                                            {.outputs = false, .outcomes = true});
    const bool exact = has_exact_match(experiment) && !corpus.format.numbers;
    const std::string shown = exact ? scores::exact_match.name : scores::loss.name;
    const auto add = [&](const std::string& name, auto value) {
      if (!scored.find(name)) scored.scores.emplace_back(name, value);
    };
    details.scores.visit([&](const char* name, auto value) { add(chosen + "." + name, value); });
    add_name(wholes, chosen + "." + shown);
    for (const KindScores& each :
         kinds.scores(details.outcomes, corpus, split_of(corpus, chosen))) {
      const std::string kind = fmt::format("{}[{}].", chosen, each.kind);
      if (exact) add(kind + scores::exact_match.name, each.exact_match());
      add(kind + scores::loss.name, each.mean_loss());
      add(kind + "examples", each.examples);
      add_name(names, kind + shown);
    }
  }
  std::ranges::sort(names, comes_before);
  names.insert(names.begin(), wholes.begin(), wholes.end());
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
  const int width = terminal_width(STDOUT_FILENO);
  options.width = width > 0 ? static_cast<size_t>(width) : default_width;
  std::vector<ScoredRun> runs = load_runs(find_runs(paths));
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
