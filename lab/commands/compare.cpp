// heed compare: the config keys in which runs differ and their scores; where runs repeat over
// seeds, with statistics.
#include "apps/commands/command.h"
#include "apps/support/output.h"
#include "lab/experiments/comparison.h"

namespace heed {
namespace {

struct CompareArguments final : CommandArguments {
  std::vector<std::string> paths;
  std::optional<std::string> target;
  std::string score;
  bool json = false, csv = false, markdown = false;

  std::vector<Option> options() override {
    return {{"RUN...", "", &paths, "Runs, or folders of runs, such as those of a sweep"},
            {"--target", "SCORE=VALUE", &target,
             "Show the steps and seconds until a score of metrics.jsonl is reached, such as "
             "val.loss=1.88; for several seeds the median"},
            {"--score", "NAME", &score,
             "Test the differences of this score (default: the score of the validation split that "
             "train.best_by names)"},
            json_option(json),
            {"--csv", "", &csv, "Print CSV"},
            {"--markdown", "", &markdown, "Print Markdown"}};
  }
  int run() const override;
};

int CompareArguments::run() const {
  check_input(json + csv + markdown <= 1, "--json, --csv and --markdown: choose one");
  ComparisonOptions options;
  if (target) options.target = ScoreTarget::parse(*target);
  options.score = score;
  options.format = json       ? TableFormat::json
                   : csv      ? TableFormat::csv
                   : markdown ? TableFormat::markdown
                              : TableFormat::text;
  std::vector<ScoredRun> runs;
  for (const std::string& path : find_runs(paths)) runs.push_back(ScoredRun::load(path));
  print(comparison_of(std::move(runs), options));
  return exit_done;
}

}  // namespace

const Command commands::compare = {
    .name = "compare",
    .summary = "Compare the configs and scores of runs, with statistics over seeds",
    .details =
        "Runs that differ only in the seed become one row: mean and 95 % interval of each score.\n"
        "Further groups are compared with the first, paired by seed: losses by ratios, accuracies\n"
        "by differences. If two or more keys vary, heed first answers for each key.\n\n"
        "Examples:\n"
        "  heed compare runs/shallow runs/deep --csv > scores.csv\n"
        "  heed compare runs/sweep --target val.loss=1.88",
    .arguments = make_arguments<CompareArguments>,
};

}  // namespace heed
