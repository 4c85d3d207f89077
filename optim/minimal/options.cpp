// Defines validate() of the options of optimizers and schedules for the minimal build. It has no
// config to blame for a value, so it checks no ranges: optim/options.cpp does.
#include "optim/optimizer.h"
#include "optim/schedule.h"

namespace heed::inline HEED_REAL {

void OptimOptions::validate() const {}
void ScheduleOptions::validate(double) const {}

}  // namespace heed::inline HEED_REAL
