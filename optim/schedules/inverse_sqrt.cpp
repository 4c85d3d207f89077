// inverse_sqrt: peak · √(warmup_steps / step), as in fairseq. With `dim`, the width of the model,
// eq. 3 of Vaswani et al. 2017 replaces peak and warm-up:
//
//   scale · dim^-0.5 · min(step^-0.5, step · warmup_steps^-1.5)
#include <algorithm>
#include <cmath>

#include "optim/schedule.h"

namespace heed::inline HEED_REAL {

static double warmup_of(const ScheduleOptions& o) {
  return static_cast<double>(std::max<int64_t>(1, o.warmup_steps));
}

static double vaswani(const ScheduleOptions& o, int64_t step) {
  const auto s = static_cast<double>(step);
  const double warmup = warmup_of(o);
  return o.scale / std::sqrt(static_cast<double>(o.dim)) *
         std::min(1 / std::sqrt(s), s / (warmup * std::sqrt(warmup)));
}

const ScheduleRule schedules::inverse_sqrt = {
    .name = "inverse_sqrt",
    .rate =
        [](const ScheduleOptions& o, double peak, int64_t step) {
          if (o.dim > 0) return vaswani(o, step);
          return peak * std::sqrt(warmup_of(o) / static_cast<double>(step));
        },
    .warmup =
        [](const ScheduleOptions& o, double peak, int64_t step) {
          return o.dim > 0 ? vaswani(o, step) : linear_warmup(o, peak, step);
        }};

}  // namespace heed::inline HEED_REAL
