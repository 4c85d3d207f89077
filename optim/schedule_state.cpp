// Defines the members of Schedule that serve schedules with a state. Others ignore losses, and save
// nothing.
#include "optim/schedule_state.h"

#include <algorithm>

#include "core/check.h"

namespace heed::inline HEED_REAL {

void Schedule::observe(double loss) {
  if (auto* const own = dynamic_cast<LossSchedule*>(this)) own->note(loss);
}

std::map<std::string, double> Schedule::state() const {
  const auto* const own = dynamic_cast<const LossSchedule*>(this);
  return own ? own->noted() : std::map<std::string, double>();
}

// Changes nothing unless the names are exactly those of state().
void Schedule::load_state(const std::map<std::string, double>& saved) {
  const auto names = state();
  const bool same_names =
      std::equal(names.begin(), names.end(), saved.begin(), saved.end(),
                 [](const auto& a, const auto& b) { return a.first == b.first; });
  check_input(same_names, "schedule state: it was saved by another kind of schedule");
  if (auto* const own = dynamic_cast<LossSchedule*>(this)) own->restore(saved);
}

}  // namespace heed::inline HEED_REAL
