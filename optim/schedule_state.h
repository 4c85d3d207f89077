// Schedules that depend on the losses of a run's evaluations, and so have a state that a checkpoint
// saves.
#pragma once

#include "optim/schedule.h"

namespace heed::inline HEED_REAL {

class LossSchedule : public Schedule {
 public:
  using Schedule::Schedule;
  // Notes an evaluation loss.
  virtual void note(double loss) = 0;
  // Returns what it has noted, as finite numbers.
  virtual std::map<std::string, double> noted() const = 0;
  // Restores numbers of these names. Throws InputError, and changes nothing, for invalid ones.
  virtual void restore(const std::map<std::string, double>& saved) = 0;
};

}  // namespace heed::inline HEED_REAL
