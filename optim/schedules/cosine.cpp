// Half a cosine, from the peak to min_lr at step `steps` (Loshchilov and Hutter 2017, "SGDR", eq.
// 5; nanoGPT's get_lr): min_lr + (peak - min_lr) · (1 + cos(π · progress)) / 2.
#include <cmath>
#include <numbers>

#include "optim/schedule.h"

namespace heed::inline HEED_REAL {

const ScheduleRule schedules::cosine = {
    .name = "cosine",
    .rate =
        [](const ScheduleOptions& o, double peak, int64_t step) {
          const double progress = 1 - remaining(o, step);
          return o.min_lr + (peak - o.min_lr) * (1 + std::cos(std::numbers::pi * progress)) / 2;
        },
    .uses_min_lr = true};

}  // namespace heed::inline HEED_REAL
