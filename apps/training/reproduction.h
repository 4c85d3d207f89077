// Compares a run with another one that was trained again from its folder, bit by bit. A run without
// a checkpoint, such as one from an archive of heed pack, is compared by its metrics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/training/checkpoint.h"
#include "apps/training/run_record.h"
#include "apps/training/saved_run.h"

namespace heed {

// A run to train again, and the step up to which it was trained.
class Reproduction {
 public:
  struct Verdict {
    bool is_same = false;
    std::string text;  // what agrees or differs, and what the first run was made with
  };
  // `assignments` change its config, for example threads. Throws InputError if they change the
  // result, if the run has neither a checkpoint nor metrics, if it is damaged, or if a process
  // trains in it.
  Reproduction(const std::string& path, const std::vector<std::string>& assignments);

  const LoadedConfig& config() const { return run_.config; }
  const std::vector<Segment>& segments() const { return segments_; }
  // That of its newest checkpoint, or of its last metrics.
  int64_t step() const { return step_; }
  // Throws InputError if the data have changed since.
  void check_data(const Corpus& corpus) const;
  // Compares the weights and the state of the optimizer at step(), if there is a checkpoint, and
  // all rows of metrics up to it.
  Verdict compare(const RunFolder& again) const;

 private:
  // Returns the heed and the processor that made it.
  std::string made_with() const;

  SavedRun run_;
  std::vector<Segment> segments_;
  std::optional<Checkpoint> checkpoint_;
  int64_t step_ = 0;
};

}  // namespace heed
