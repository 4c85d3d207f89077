// heed evaluate: scores a checkpoint on a split of its run's data.
#include <fmt/format.h>

#include "apps/commands/command.h"
#include "apps/inference/scores.h"
#include "apps/support/output.h"
#include "apps/training/saved_run.h"
#include "core/text.h"

namespace heed {
namespace {

struct EvaluateArguments final : CommandArguments {
  std::string path, split, checkpoint;
  std::vector<std::string> set;
  bool json = false;

  std::vector<Option> options() override {
    return {{"RUN", "", &path, "Folder of the run"},
            {"--split", "NAME", &split, "Split to score: val, test, … (default: test, else val)"},
            checkpoint_option(checkpoint),
            set_option(set),
            json_option(json)};
  }
  int run() const override;
};

int EvaluateArguments::run() const {
  const SavedRun run = SavedRun::open(path, set);
  const Experiment& experiment = run.config.experiment;
  apply_settings(experiment);
  const Checkpoint loaded = run.checkpoint(checkpoint);
  const Corpus corpus = run.data(loaded);
  const std::string chosen = split_or_default(corpus, split);
  const std::unique_ptr<Model> model = run.model(corpus, loaded);
  const Json scores = split_scores(*model, corpus, experiment, chosen);
  if (!json) {
    print_escaped(fmt::format("{}, step {}\n\n{}\n", escaped(run.folder.path()), loaded.step(),
                              scores_table({{chosen, scores}}, has_exact_match(experiment))));
    return exit_done;
  }
  Json result =
      Json::object().set("run", run.folder.path()).set("step", loaded.step()).set("split", chosen);
  for (const auto& [name, score] : scores.members()) result.set(name, score);
  print(fmt::format("{}\n", result.text(2)));
  return exit_done;
}

}  // namespace

const Command commands::evaluate = {
    .name = "evaluate",
    .summary = "Score a trained model on a split of its data",
    .details =
        "Examples:\n"
        "  heed evaluate runs/deep\n"
        "  heed evaluate runs/deep --split val --checkpoint latest --json",
    .arguments = make_arguments<EvaluateArguments>,
};

}  // namespace heed
