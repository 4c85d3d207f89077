#include "apps/saved_run.h"

#include "apps/arrays.h"
#include "core/scope.h"

namespace heed {

SavedRun SavedRun::open(const std::string& path) {
  const RunFolder folder = RunFolder::open(path);
  return {folder, load_config(folder.config(), {})};
}

Checkpoint SavedRun::checkpoint(const std::string& which) const {
  const Checkpoints checkpoints(folder.checkpoints(), 1);
  return checkpoints.open(!which.empty() ? which : checkpoints.has_best() ? "best" : "latest");
}

SavedVocabulary SavedRun::vocabulary() const {
  return read_vocabulary(folder.vocabulary(), config.experiment.framing());
}

std::unique_ptr<Model> SavedRun::model(const Corpus& corpus, const Checkpoint& checkpoint) const {
  scope().step = static_cast<uint32_t>(checkpoint.step());
  ScopeGuard here;
  here->shapes_only = true;  // the numbers come from the checkpoint
  std::unique_ptr<Model> model =
      make_model(config.experiment.model, model_sizes(config.experiment, corpus));
  checkpoint.read_model(targets_of(model->parameters()));
  return model;
}

}  // namespace heed
