// A trained run, for the commands that use one.
#pragma once

#include <memory>
#include <string>

#include "apps/inference/vocabulary_file.h"
#include "apps/training/checkpoint.h"
#include "apps/training/load_data.h"
#include "apps/training/run_folder.h"
#include "apps/training/snapshots.h"
#include "core/inference_scope.h"
#include "nn/models.h"

namespace heed {

struct SavedRun {
  RunFolder folder;
  LoadedConfig config;

  // Throws InputError if the folder holds no run. `assignments` change its config, such as
  // data.path=FILE for data that have moved.
  static SavedRun open(const std::string& path, const std::vector<std::string>& assignments = {});

  // Opens "best", "latest" or a step; "" means the best, or the latest if there is no best. Throws
  // InputError if the config or vocabulary.json is not that of its training.
  Checkpoint checkpoint(const std::string& which) const;
  // Reads vocabulary.json. The corpus has no splits.
  Corpus vocabulary() const;
  // Loads the data of the run. Throws InputError if they have changed since the training.
  Corpus data(const Checkpoint& checkpoint) const;
  // Creates the model with these weights. Does not use the splits of `corpus`.
  std::unique_ptr<Model> model(const Corpus& corpus, const SavedTensors& weights) const;
  // Returns the weights after one of the steps().
  SavedTensors weights(int64_t step) const;
  // Returns the steps whose weights the run has, ascending: in a checkpoint or a snapshot.
  std::vector<int64_t> steps() const;
};

// A trained run with its model.
struct TrainedModel {
  enum class Needs { vocabulary, data };
  // Opens a checkpoint as SavedRun::checkpoint() does, then reads the vocabulary or the data, and
  // creates the model. All ranks must call it: throws InputError if they load different ones.
  TrainedModel(SavedRun saved, const std::string& which, Needs needs);

  SavedRun run;
  Checkpoint checkpoint;
  Corpus corpus;  // without splits, unless it was loaded with data
  std::unique_ptr<Model> model;

  const std::string& path() const { return run.folder.path(); }
  const Experiment& experiment() const { return run.config.experiment; }
  // Until the end of the block, computes with the precision of the run, and with the settings that
  // change during a training as they are at the step of the weights.
  struct Here : InferenceScope {
    explicit Here(const TrainedModel& run);
  };
};

// Checks that all processes (core/ranks.h) compute the same, and sets how long they wait for one
// that is silent. Throws InputError if rank 0 has another program, config, fingerprint of the data
// or checkpoint (null: none). All ranks must call it.
void check_agreement(const Experiment& experiment, const std::string& data,
                     const Checkpoint* checkpoint = nullptr);

// Returns whether a path names a run, and not a config: it is a folder, or it does not exist and
// does not end in ".toml".
bool names_run(const std::string& path);
// Loads a config, or the config of a run if the path names one.
LoadedConfig load_config_or_run(const std::string& path,
                                const std::vector<std::string>& assignments);

}  // namespace heed
