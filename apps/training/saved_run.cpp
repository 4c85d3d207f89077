#include "apps/training/saved_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "apps/support/files.h"
#include "apps/support/machine.h"
#include "apps/support/together.h"
#include "apps/support/version.h"
#include "apps/training/arrays.h"
#include "apps/training/binding.h"
#include "core/check.h"
#include "core/scope.h"
#include "core/system_memory.h"

namespace heed {

SavedRun SavedRun::open(const std::string& path, const std::vector<std::string>& assignments) {
  const RunFolder folder = RunFolder::open(path);
  return {folder, load_run_config(folder.config(), assignments)};
}

bool names_run(const std::string& path) {
  return is_folder(path) || (!exists(path) && !path.ends_with(".toml"));
}

LoadedConfig load_config_or_run(const std::string& path,
                                const std::vector<std::string>& assignments) {
  return names_run(path) ? SavedRun::open(path, assignments).config
                         : load_config(path, assignments);
}

Checkpoint SavedRun::checkpoint(const std::string& which) const {
  const Checkpoints checkpoints(folder.checkpoints(), 1);
  Checkpoint checkpoint = checkpoints.open(!which.empty()           ? which
                                           : checkpoints.has_best() ? "best"
                                                                    : "latest");
  with_origins(config.origins, [&] { check_settings(checkpoint, config.experiment); });
  check_vocabulary_file(checkpoint, folder.vocabulary(), config.experiment.model.kind);
  return checkpoint;
}

Corpus SavedRun::vocabulary() const {
  Corpus corpus = read_vocabulary(folder.vocabulary(), config.experiment.model.kind);
  if (config.experiment.data.kind == &data_kinds::text)
    corpus.source = corpus.target = std::make_shared<TextCodec>(corpus.target->without_marks());
  return corpus;
}

Corpus SavedRun::data(const Checkpoint& checkpoint) const {
  Corpus corpus = load_data(config);
  check_data(checkpoint, corpus, folder.path(), config.origins);
  return corpus;
}

std::unique_ptr<Model> SavedRun::model(const Corpus& corpus, const SavedTensors& weights) const {
  const ModelOptions& options = config.experiment.model;
  const ModelSizes sizes = model_sizes(config.experiment, corpus);
  {
    // Checks the size before memory is allocated.
    ScopeGuard here;
    here->shapes_only = true;
    const std::unique_ptr<Model> planned = make_model(options, sizes);
    const std::vector<NamedParameter> parameters = planned->parameters();
    weights.check(parameters);
    double bytes = 0;
    for (const NamedParameter& each : parameters)
      bytes += static_cast<double>(array_of(each).bytes());
    check_input(bytes <= available_memory(),
                "{}: the weights take {:.0f} MiB of memory, this machine has {:.0f} MiB left",
                weights.path(), bytes / mib, available_memory() / mib);
  }
  ScopeGuard here;
  here->initialise = false;  // the values come from the file
  std::unique_ptr<Model> model = make_model(options, sizes);
  weights.read(model->parameters());
  return model;
}

SavedTensors SavedRun::weights(int64_t step) const {
  if (std::ranges::binary_search(Checkpoints(folder.checkpoints(), 1).steps(), step))
    return checkpoint(std::to_string(step)).model();
  return Snapshots(folder.snapshots()).model(step);
}

std::vector<int64_t> SavedRun::steps() const {
  std::vector<int64_t> all;
  std::ranges::set_union(Checkpoints(folder.checkpoints(), 1).steps(),
                         Snapshots(folder.snapshots()).steps(), std::back_inserter(all));
  return all;
}

void check_agreement(const Experiment& experiment, const std::string& data,
                     const Checkpoint* checkpoint) {
  if (rank_count() == 1) return;
  Ranks::current->set_timeout(experiment.train.rank_timeout);
  Experiment compared = experiment;
  compared.threads = 0;
  const std::pair<const char*, std::string> parts[] = {
      {"program", fmt::format("{} {}", program_version, program_commit())},
      {"config", config_text(list_config(compared))},
      {"data", data},
      {"checkpoint", checkpoint ? checkpoint->digests().text() : ""}};
  for (const auto& [what, own] : parts)
    check_input(from_first_rank(own) == own,
                "{} has another {} than process 0: start all with the same", host_name(), what);
}

TrainedModel::TrainedModel(SavedRun saved, const std::string& which, Needs needs)
    : run(std::move(saved)),
      checkpoint(run.checkpoint(which)),
      corpus(needs == Needs::data ? run.data(checkpoint) : run.vocabulary()) {
  check_agreement(experiment(), corpus.fingerprint, &checkpoint);
  model = run.model(corpus, checkpoint.model());
}

TrainedModel::Here::Here(const TrainedModel& run) {
  scope().precision = run.experiment().precision;
  scope().step = static_cast<uint32_t>(run.checkpoint.step());
}

}  // namespace heed
