// heed evaluate: the scores of a checkpoint on a split of the run's data.
#include <fmt/format.h>

#include "apps/commands/commands.h"
#include "apps/inference/scores.h"
#include "apps/training/saved_run.h"

namespace heed::commands {

int evaluate(const EvaluateArguments& arguments) {
  const SavedRun run = SavedRun::open(arguments.run);
  const Experiment& experiment = run.config.experiment;
  apply_settings(experiment);
  const Checkpoint checkpoint = run.checkpoint(arguments.checkpoint);
  const Corpus corpus = run.data(checkpoint);
  const std::string split = split_or_default(corpus, arguments.split);
  const std::unique_ptr<Model> model = run.model(corpus, checkpoint);
  const Json scores = split_scores(*model, corpus, experiment, split);
  if (!arguments.json) {
    fmt::print("{}, step {}\n\n{}\n", run.folder.path(), checkpoint.step(),
               scores_table({{split, scores}}, has_answers(experiment)));
    return exit_done;
  }
  Json result = Json::object()
                    .set("run", run.folder.path())
                    .set("step", checkpoint.step())
                    .set("split", split);
  for (const auto& [name, score] : scores.members()) result.set(name, score);
  fmt::print("{}\n", result.text(2));
  return exit_done;
}

}  // namespace heed::commands
