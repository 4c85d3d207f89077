// The optimizer rules and schedules that a config can name. One line registers each.
#pragma once

#include "core/registry.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"

namespace heed::inline HEED_REAL {

// clang-format off
#define HEED_OPTIMIZERS(entry) \
  entry(sgd) \
  entry(adam) \
  entry(adamw)

#define HEED_SCHEDULES(entry) \
  entry(constant) \
  entry(linear) \
  entry(cosine) \
  entry(inverse_sqrt) \
  entry(plateau)
// clang-format on
HEED_REGISTRY(optimizers, OptimizerRule, HEED_OPTIMIZERS)
HEED_REGISTRY(schedules, ScheduleRule, HEED_SCHEDULES)

}  // namespace heed::inline HEED_REAL
