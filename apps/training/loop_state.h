// What a run remembers besides weights, optimizer and schedule, and what it may be resumed with.
#pragma once

#include <cstdint>
#include <string>

#include "apps/config/config.h"
#include "apps/support/json.h"

namespace heed {

// Part of a checkpoint's state.json.
struct LoopState {
  int64_t best_step = 0;  // 0: none yet
  double best_score = 0;
  int64_t evaluations_since_best = 0;
  double loss_sum = 0;  // of the steps since the last row of metrics
  int64_t loss_count = 0;
  int64_t tokens = 0;
  double step_seconds = 0, seconds = 0;  // in steps alone, and in all

  Json json() const;
  static LoopState from(const Json& json);
};

// The keys that may differ when a run is resumed: those that leave its weights as they would be, or
// that train it for longer. Throws InputError that shows the others that differ.
void check_resumable(const ConfigListing& before, const ConfigListing& now, const std::string& run);

}  // namespace heed
