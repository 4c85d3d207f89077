// The plan of a class: what is handed in each week, until when, and what it is worth.
//
//   late = 0.5                 # of the points, for an answer that is handed in late (default: 1)
//   [[week]]
//   exercises = ["softmax", "layer-norm"]
//   points = 10                # of each exercise (default: 1)
//   due = "2026-10-12T22:00"   # UTC; a date alone is the end of the day (default: at any time)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/fields.h"

namespace heed {

struct PlannedWeek {
  std::vector<std::string> exercises;
  double points = 1;
  std::string due;  // "2026-10-12T22:00:00Z"; empty: at any time
  void fields(Fields& f);
};

struct ClassPlan {
  double late = 1;
  std::vector<PlannedWeek> weeks;
  void fields(Fields& f);

  // Throws InputError, with the line, if the file is no plan, names an exercise that is not among
  // `exercises`, or names one twice.
  static ClassPlan read(const std::string& path, const std::vector<std::string>& exercises);

  // The exercises of a week, counted from 1; 0: of all weeks. Throws InputError if there is no such
  // week.
  std::vector<std::string> exercises(int64_t week) const;
  // The week of an exercise. One that no week names has one point, and is never late.
  const PlannedWeek& week_of(const std::string& exercise) const;
  // `handed_in` is a time in UTC: "2026-10-12T22:00:00Z".
  bool is_late(const std::string& exercise, const std::string& handed_in) const;
  // The points of an answer that passes.
  double points(const std::string& exercise, bool is_late = false) const;
};

}  // namespace heed
