// A run that has been trained, as the commands that use one see it.
#pragma once

#include <memory>
#include <string>

#include "apps/config/load_config.h"
#include "apps/inference/vocabulary_file.h"
#include "apps/training/checkpoint.h"
#include "apps/training/run.h"

namespace heed {

struct SavedRun {
  RunFolder folder;
  LoadedConfig config;

  // Throws InputError for what is no run.
  static SavedRun open(const std::string& path);

  // "best", "latest" or a step; "" for the best, or the latest where none is best.
  Checkpoint checkpoint(const std::string& which) const;
  // What it reads and writes, from the run itself.
  SavedVocabulary vocabulary() const;
  // The data it was trained on. Throws InputError if they are others by now.
  Corpus data(const Checkpoint& checkpoint) const;
  // The model with the weights of a checkpoint, whose step becomes that of the scope. `corpus`
  // needs no splits.
  std::unique_ptr<Model> model(const Corpus& corpus, const Checkpoint& checkpoint) const;
};

}  // namespace heed
