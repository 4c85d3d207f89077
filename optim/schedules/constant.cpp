// constant: the peak.
#include "optim/schedule.h"

namespace heed::inline HEED_REAL {

const ScheduleRule schedules::constant = {.name = "constant", .make = Schedule::make<Schedule>};

}  // namespace heed::inline HEED_REAL
