// plateau: the peak, multiplied by `factor` whenever the evaluation loss has not improved for more
// than `patience` evaluations (PyTorch's ReduceLROnPlateau). A loss that is not a number is no
// improvement.
//
//   Schedule schedule({.kind = &schedules::plateau}, 1e-3, steps);
//   Plateau plateau(schedule);
//   plateau.observe(loss);  // after each evaluation
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "optim/schedule.h"

namespace heed::inline HEED_REAL {

// Lowers the peak of a schedule when losses stop improving.
class Plateau {
 public:
  // The schedule, whose rule uses losses, must outlive it.
  explicit Plateau(Schedule& schedule) : schedule_(schedule) {}

  void observe(double loss);                    // notes the loss of an evaluation
  std::map<std::string, double> state() const;  // what it has noted: finite numbers
  // Restores it. Throws InputError, and changes nothing, for other names or invalid numbers.
  void load_state(const std::map<std::string, double>& saved);

 private:
  Schedule& schedule_;
  double best_ = std::numeric_limits<double>::max();  // smallest loss observed
  int64_t bad_evaluations_ = 0;                       // since then
};

}  // namespace heed::inline HEED_REAL
