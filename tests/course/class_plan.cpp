// Plans of a class: weeks, points and dates.
#include "course/tutor/class_plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "apps/support/files.h"
#include "course/tutor/catalogue.h"
#include "course/tutor/workshop.h"
#include "tests/apps/temporary.h"

namespace heed {
namespace {

const std::vector<std::string> known{"softmax", "heads", "rotary"};

ClassPlan plan_of(const std::string& text) {
  const TemporaryFolder folder;
  write_file(folder / "plan.toml", text);
  return ClassPlan::read(folder / "plan.toml", known);
}

void check_rejected(const std::string& text, const char* part) {
  CAPTURE(text);
  CHECK_CONTAINS(thrown<InputError>([&] { plan_of(text); }), part);
}

TEST_CASE("plan of a class: weeks, points, and who is late") {
  const ClassPlan plan = plan_of(
      "late = 0.5\n[[week]]\nexercises = [\"softmax\"]\npoints = 3\ndue = \"2026-10-12\"\n"
      "[[week]]\nexercises = [\"heads\"]\ndue = \"2026-10-19T22:00\"\n");
  CHECK(plan.exercises(0) == std::vector<std::string>{"softmax", "heads"});
  CHECK(plan.exercises(2) == std::vector<std::string>{"heads"});
  CHECK_THROWS_AS(plan.exercises(3), InputError);
  CHECK(!plan.is_late("softmax", "2026-10-12T23:59:59Z"));
  CHECK(plan.is_late("softmax", "2026-10-13T00:00:00Z"));
  CHECK(!plan.is_late("heads", "2026-10-19T22:00:30Z"));
  CHECK(plan.is_late("heads", "2026-10-19T22:01:00Z"));
  CHECK(!plan.is_late("rotary", "2999-01-01T00:00:00Z"));
  CHECK(plan.points("softmax") == 3);
  CHECK(plan.points("softmax", true) == 1.5);
  CHECK(plan.points("rotary") == 1);
}

TEST_CASE("plan of a class: mistakes are reported with their line") {
  check_rejected("late = 1\n", "expected [[week]], found none");
  check_rejected("late = 2\n[[week]]\nexercises = []\n", "plan.toml:1:");
  check_rejected("[[week]]\nexercises = [\"sofmax\"]\n", "did you mean 'softmax'");
  check_rejected("[[week]]\nexercises = [\"heads\", \"heads\"]\n", "heads is in the plan twice");
  check_rejected("[[week]]\npoints = -1\n", "plan.toml:2:");
  check_rejected("[[week]]\ndeadline = \"2026-10-12\"\n", "deadline");
  for (const char* due : {"12.10.2026", "2026-13-12", "2026-10-12 22:00", "2026-10-12T24:00", "x"})
    check_rejected(std::string("[[week]]\ndue = \"") + due + "\"\n", "due: expected a time");
}

TEST_CASE("plan of a class: course/class.toml has the fast track") {
  const Workshop workshop = Workshop::find();
  std::vector<std::string> fast = exercise_names(workshop, true);
  std::vector<std::string> planned =
      ClassPlan::read(in_folder(workshop.chapters(), "class.toml"), exercise_names(workshop))
          .exercises(0);
  std::sort(planned.begin(), planned.end());
  std::sort(fast.begin(), fast.end());
  CHECK(planned == fast);
}

}  // namespace
}  // namespace heed
