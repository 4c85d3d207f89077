#include "apps/training/saved_run.h"

#include "apps/training/arrays.h"
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

Corpus SavedRun::data(const Checkpoint& checkpoint) const {
  Corpus corpus = load_data(config);
  check_input(corpus.fingerprint == checkpoint.state().at("data").string(),
              "{}: the data have changed since the training ({})", folder.path(),
              corpus.files.empty() ? folder.config() : corpus.files[0]);
  return corpus;
}

std::unique_ptr<Model> SavedRun::model(const Corpus& corpus, const Checkpoint& checkpoint) const {
  scope().step = static_cast<uint32_t>(checkpoint.step());
  ScopeGuard here;
  here->initialise = false;  // the values come from the checkpoint
  std::unique_ptr<Model> model =
      make_model(config.experiment.model, model_sizes(config.experiment, corpus));
  checkpoint.read_model(targets_of(model->parameters()));
  return model;
}

}  // namespace heed
