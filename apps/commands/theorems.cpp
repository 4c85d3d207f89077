// heed theorems: what the documents claim, measured; and which of it a model has.
#include <fmt/format.h>

#include "apps/commands/commands.h"
#include "apps/support/files.h"
#include "apps/training/saved_run.h"
#include "theorems/model.h"

namespace heed::commands {
namespace {

using heed::theorems::Measurements;
using heed::theorems::Section;
using heed::theorems::Subject;

Subject of_run(const std::string& path) {
  const SavedRun run = SavedRun::open(path);
  apply_settings(run.config.experiment);
  const Checkpoint checkpoint = run.checkpoint("");
  const Corpus corpus = run.vocabulary().corpus;
  return {fmt::format("{}, step {}", run.folder.path(), checkpoint.step()),
          run.config.experiment.model, model_sizes(run.config.experiment, corpus),
          run.model(corpus, checkpoint)};
}

// With the weights that training would begin with.
Subject of_config(const std::string& path, const std::vector<std::string>& assignments) {
  const LoadedConfig config = load_config(path, assignments);
  const Experiment& experiment = config.experiment;
  apply_settings(experiment);
  const Corpus corpus = load_data(config);
  ScopeGuard here;
  here->seed = static_cast<uint64_t>(experiment.seed);
  return with_places(config.origins, [&] {
    const ModelSizes sizes = model_sizes(experiment, corpus);
    return Subject{path + ", not trained", experiment.model, sizes,
                   make_model(experiment.model, sizes)};
  });
}

std::vector<Section> properties(const TheoremsArguments& arguments) {
  const bool is_run = is_folder(arguments.model);
  check_input(!is_run || arguments.set.empty(),
              "--set changes a config; {} is a run, whose model is what was trained",
              arguments.model);
  const Subject subject =
      is_run ? of_run(arguments.model) : of_config(arguments.model, arguments.set);
  Measurements measurements(static_cast<uint64_t>(arguments.seed), arguments.only);
  measure_model(measurements, subject);
  measurements.check_wanted();
  return measurements.sections();
}

}  // namespace

int theorems(const TheoremsArguments& arguments) {
  check_input(!arguments.model.empty() || arguments.set.empty(),
              "--set changes a config: name one with --model");
  const std::vector<Section> sections =
      arguments.model.empty()
          ? heed::theorems::measure_all(static_cast<uint64_t>(arguments.seed), arguments.only)
          : properties(arguments);
  fmt::print("{}",
             arguments.json ? heed::theorems::json(sections) : heed::theorems::table(sections));
  return heed::theorems::all_hold(sections) ? exit_done : exit_failed;
}

}  // namespace heed::commands
