// Compares a run with another one that was trained again from its folder, bit by bit.
#pragma once

#include <cstdint>
#include <string>

#include "apps/training/checkpoint.h"
#include "apps/training/saved_run.h"

namespace heed {

struct Reproduction {
  bool is_same = false;
  std::string text;  // what agrees or differs, and what the first run was made with
};

// The run to train again, and the step up to which it was trained.
class ReproducedRun {
 public:
  // `assignments` change its config, for example threads. Throws InputError if they change the
  // result, if the run has no checkpoint, if it is damaged, or if a process trains in it.
  ReproducedRun(const std::string& path, const std::vector<std::string>& assignments);

  const LoadedConfig& config() const { return run_.config; }
  int64_t step() const { return checkpoint_.step(); }
  // Throws InputError if the data have changed since.
  void check_data(const Corpus& corpus) const;
  // Compares weights and the state of the optimizer at step(), and all rows of metrics up to it.
  Reproduction compare(const RunFolder& again) const;

 private:
  SavedRun run_;
  Checkpoint checkpoint_;
};

}  // namespace heed
