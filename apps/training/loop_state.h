// The state of a training loop besides weights, optimizer and schedule, and the config keys that
// may change when it is resumed.
#pragma once

#include <cstdint>
#include <string>

#include "apps/config/config.h"
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

// What a change of a config key does to a run. check_resumable() and the identity of a run
// (lab/experiments/plan.h) follow from it.
enum class KeyEffect {
  none,     // the run and its result stay the same: threads, logs, checkpoints
  data,     // where a data file is: what counts is its content, by the fingerprint of the data
  result,   // the run can be resumed, but its result is another: steps, evaluations
  weights,  // it is another run
};
KeyEffect effect_of(const std::string& key, const ConfigListing& config);
// Returns whether the result of a run depends on the value of the key: KeyEffect::result or
// weights.
bool changes_result(const std::string& key, const ConfigListing& config);

// Checks that the configs differ only in keys that may change when a run is resumed: keys that do
// not affect the weights, and the number of steps. Throws InputError that lists the others.
void check_resumable(const ConfigListing& before, const ConfigListing& now, const std::string& run);

}  // namespace heed
