// The state of a training loop besides weights, optimizer and schedule, and the config keys that
// may change when it is resumed.
#pragma once

#include <cstdint>
#include <string>

#include "apps/config/experiment.h"
#include "apps/support/json.h"

namespace heed {

// The member "training" of a checkpoint's state.json.
struct LoopState {
  int64_t best_step = 0;  // 0: no evaluation yet
  double best_score = 0;
  int64_t evaluations_since_best = 0;
  double loss_sum = 0;  // over the steps since the last row of metrics
  int64_t loss_count = 0;
  int64_t tokens = 0;
  double step_seconds = 0, seconds = 0;  // in training steps; in total

  Json json() const;
  static LoopState from(const Json& json);
};

// Checks that the configs differ only in keys that may change when a run is resumed: keys that do
// not affect the weights, a larger number of steps, and schedule.steps if it keeps the end of the
// schedule. Throws InputError that lists the others.
void check_resumable(const Experiment& before, const Experiment& now, const std::string& run);

}  // namespace heed
