// linear: in a straight line from the peak to min_lr at step `steps`.
#include "optim/schedule.h"

namespace heed::inline HEED_REAL {

const ScheduleRule schedules::linear = {
    .name = "linear",
    .rate = [](const ScheduleOptions& o, double peak,
               int64_t step) { return o.min_lr + (peak - o.min_lr) * remaining(o, step); },
    .uses_min_lr = true};

}  // namespace heed::inline HEED_REAL
