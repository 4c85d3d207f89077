#include "course/tutor/class_plan.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "apps/support/files.h"
#include "core/check.h"
#include "core/suggest.h"
#include "core/text.h"
#include "course/tutor/sections.h"

namespace heed {

// "2026-10-12" → "2026-10-12T23:59:59Z", and "2026-10-12T22:00" → "2026-10-12T22:00:59Z". Empty if
// it is no time.
static std::string full_time(const std::string& time) {
  constexpr std::string_view day = "0000-00-00", minute = "0000-00-00T00:00", last = "T23:59:59Z";
  const std::string_view form = time.size() == day.size() ? day : minute;
  const bool fits = std::ranges::equal(time, form, [](char c, char expected) {
    return expected == '0' ? std::isdigit(static_cast<unsigned char>(c)) != 0 : c == expected;
  });
  if (!fits || time.substr(5, 2) > "12" || time.substr(8, 2) > "31" ||
      (form == minute && (time.substr(11, 2) > "23" || time.substr(14, 2) > "59")))
    return "";
  return time + std::string(last.substr(time.size() - day.size()));
}

void PlannedWeek::fields(Fields& f) {
  f.texts("exercises", exercises, "exercises to hand in");
  f.number("points", points, at_least(0), "points of each of them");
  f.text("due", due, "last time to hand them in, in UTC, such as 2026-10-12 or 2026-10-12T22:00");
}

void ClassPlan::fields(Fields& f) {
  f.number("late", late, {0, 1}, "fraction of the points for an answer that is handed in late");
}

ClassPlan ClassPlan::read(const std::string& path, const std::vector<std::string>& known) {
  ClassPlan plan;
  std::set<std::string> named;
  fill_sections(read_file(path, "plan of a class", 1 << 20), path, "week", plan, plan.weeks,
                [&](PlannedWeek& week, int line) {
                  for (const std::string& name : week.exercises) {
                    check_input(std::ranges::find(known, name) != known.end(),
                                "{}:{}: no exercise is called {}{}", path, line,
                                in_quotes(name, '\''), did_you_mean(name, known));
                    check_input(named.insert(name).second, "{}:{}: {} is in the plan twice", path,
                                line, name);
                  }
                  if (week.due.empty()) return;
                  const std::string due = full_time(week.due);
                  check_input(!due.empty(),
                              "{}:{}: due: expected a time such as 2026-10-12 or "
                              "2026-10-12T22:00, found {}",
                              path, line, in_quotes(week.due));
                  week.due = due;
                });
  check_input(!plan.weeks.empty(), "{}: expected [[week]], found none", path);
  return plan;
}

std::vector<std::string> ClassPlan::exercises(int64_t week) const {
  check_input(week <= std::ssize(weeks), "the plan has {} weeks, but not week {}", weeks.size(),
              week);
  std::vector<std::string> names;
  for (int64_t i = 0; i < std::ssize(weeks); ++i)
    if (week == 0 || week == i + 1)
      for (const std::string& name : weeks[static_cast<size_t>(i)].exercises) names.push_back(name);
  return names;
}

const PlannedWeek& ClassPlan::week_of(const std::string& exercise) const {
  static const PlannedWeek none;
  for (const PlannedWeek& week : weeks)
    if (std::ranges::find(week.exercises, exercise) != week.exercises.end()) return week;
  return none;
}

bool ClassPlan::is_late(const std::string& exercise, const std::string& handed_in) const {
  const std::string& due = week_of(exercise).due;
  return !due.empty() && handed_in > due;
}

double ClassPlan::points(const std::string& exercise, bool is_late) const {
  return week_of(exercise).points * (is_late ? late : 1);
}

}  // namespace heed
