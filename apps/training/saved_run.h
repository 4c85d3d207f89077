// A trained run, for the commands that use one.
#pragma once

#include <memory>
#include <string>

#include "apps/inference/vocabulary_file.h"
#include "apps/training/checkpoint.h"
#include "apps/training/load_data.h"
#include "apps/training/run_folder.h"

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
  // Reads vocabulary.json.
  SavedVocabulary vocabulary() const;
  // Loads the data of the run. Throws InputError if they have changed since the training.
  Corpus data(const Checkpoint& checkpoint) const;
  // Creates the model with the weights of a checkpoint, and sets the step of the scope to that of
  // the checkpoint. Does not use the splits of `corpus`.
  std::unique_ptr<Model> model(const Corpus& corpus, const Checkpoint& checkpoint) const;
};

// Returns whether a path names a run, and not a config: it is a folder, or it does not exist and
// does not end in ".toml".
bool names_run(const std::string& path);
// Loads a config, or the config of a run if the path names one.
LoadedConfig load_config_or_run(const std::string& path,
                                const std::vector<std::string>& assignments);

}  // namespace heed
