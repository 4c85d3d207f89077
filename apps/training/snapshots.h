// Snapshots: the weights of a run at a few steps, to see later how it learned (`heed inspect`).
//
//   snapshots/step-6.safetensors, step-8.safetensors, …
//
// They are taken after the steps 1, 2, 3, 4, 6, 8, 12, 16, 24, …: the powers of two, and one and a
// half times each from 2 on. Only the newest ones are kept. So the files depend only on the steps
// that a run has done: one that was extended, or killed and resumed, has those of a run that was
// trained in one go. They contain what a checkpoint of the step (checkpoint.h) contains as weights.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/training/checkpoint.h"

namespace heed {

class Snapshots {
 public:
  static constexpr int64_t max_bytes = int64_t{64} << 20;  // of all snapshots of a run

  explicit Snapshots(std::string folder) : folder_(std::move(folder)) {}

  // Returns whether weights are taken after this step.
  static bool is_due(int64_t step);
  // Writes the weights after a step, then removes the oldest snapshots: at most `keep` stay, and
  // only as many as have max_bytes together. Does nothing if `keep` is 0, or if a value is not
  // finite: the loss of such a step ends the training. Throws Error if a write fails.
  void save(int64_t step, const std::vector<NamedParameter>& model, int64_t keep,
            const Metadata& metadata = {}) const;
  // Removes the snapshots after a step, from which the training continues, and leftovers of a
  // killed process.
  void settle(int64_t step) const;

  std::vector<int64_t> steps() const;                                          // ascending
  SavedTensors model(int64_t step) const { return SavedTensors(path(step)); }  // the weights
  std::string path(int64_t step) const;

 private:
  std::string folder_;
};

}  // namespace heed
