// heed compare: the config keys in which runs differ and their scores; where runs repeat over
// seeds, with statistics.

#include <unistd.h>

#include "apps/support/files.h"
#include "apps/support/terminal.h"
#include "lab/commands/room.h"
#include "lab/experiments/comparison.h"
#include "lab/experiments/group_curves.h"
#include "lab/experiments/kind_scores.h"

namespace heed {
namespace {

constexpr size_t default_width = 80;  // of a table in a file or a pipe

struct CompareArguments final : CommandArguments {
  std::vector<std::string> paths;
  std::optional<std::string> target;
  ComparisonOptions requested;
  KindRequest kinds;
  std::string positions, curves;
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
        by_option(kinds.by,
                  "Evaluate every run, and show the exact match, or the loss without an "
                  "expected output, of each kind of examples"),
        positions_option(positions),
        {"--split", "NAME", &kinds.split,
         "Split for --by and --positions (default: test, else val)"},
        {"--curves", "FILE", &curves,
         "Also write the curve of --score as CSV: group, step, mean, 95 % interval and n"},
        {"--runs", "", &requested.by_run,
         "List every run with its keys, seed, state and scores; do not group seeds"},
        json_option(json),
        {"--csv", "", &csv, "Print CSV"},
        {"--long", "", &requested.long_rows,
         "With --csv: a row for each group and score: group, score, kind of examples, n, mean and "
         "95 % interval"},
        {"--markdown", "", &markdown, "Print Markdown"},
        {"--latex", "", &latex, "Print LaTeX, for the package booktabs"}};
  }
  int run() const override;
};

int CompareArguments::run() const {
  check_input(json + csv + markdown + latex <= 1,
              "--json, --csv, --markdown and --latex: choose one");
  const bool asks = !requested.question.baseline.empty() || !requested.question.interaction.empty();
  check_input(!requested.by_run || !asks,
              "--runs lists single runs; leave out --baseline and --interaction");
  KindRequest asked = kinds;
  if (!positions.empty()) asked.positions = PositionRange::parse(positions);
  check_input(asked.split.empty() || asked.evaluates(), "--split is for --by and --positions");
  check_input(!requested.long_rows || (csv && !requested.by_run && !asks && !target),
              "--long goes with --csv, without --runs, --baseline, --interaction and --target");
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
  if (asked.evaluates()) {
    const std::vector<std::string> names = add_kind_scores(runs, asked);
    if (options.columns.empty() && !options.long_rows) options.columns = names;
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
