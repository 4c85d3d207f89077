// The command of the course in the program: manual page, completion, what it shows of the library.
#include <doctest/doctest.h>

#include "course/commands/room.h"
#include "course/tutor/catalogue.h"
#include "course/tutor/library_function.h"
#include "course/tutor/museum.h"
#include "course/tutor/workshop.h"
#include "manual_check.h"

using namespace heed;

TEST_CASE("course: manual page and completion name every option") {
  check_manual(course_commands::all);
}

TEST_CASE("course: show finds what the background of every exercise names") {
  const Workshop workshop = Workshop::find();
  for (const Exercise& exercise : course_exercises(workshop)) {
    CAPTURE(exercise.name);
    CHECK_NOTHROW(library_functions(workshop.sources, exercise.file("background.md")));
  }
}

TEST_CASE("course: a terminal shows the links of a text as paths") {
  for (const Exercise& exercise : course_exercises(Workshop::find()))
    if (exercise.name == "cross-entropy") {
      const std::string text = exercise.shown("background.md");
      CHECK(text.find("`cross_entropy` (core/ops/loss.cpp)") != std::string::npos);
      CHECK(text.find("](") == std::string::npos);
    } else if (exercise.name == "tape") {
      CHECK(exercise.shown("task.md").find("course/exercises/tape/tape.h") != std::string::npos);
    } else if (exercise.name == "rotary") {
      CHECK(exercise.shown("hints.md").find("[=](Backward& g)") != std::string::npos);
    }
}

// A terminal shows no TeX, so what heed prints has its formulas in Unicode.
TEST_CASE("course: tasks, hints, backgrounds and exhibits have no TeX") {
  const Workshop workshop = Workshop::find();
  const auto check_no_tex = [](const std::string& name, const std::string& text) {
    CAPTURE(name);
    CHECK(!text.empty());
    CHECK(text.find_first_of("$\\") == std::string::npos);
  };
  for (const Exercise& exercise : course_exercises(workshop))
    for (const char* file : {"task.md", "hints.md", "background.md"})
      check_no_tex(exercise.name + "/" + file, exercise.file(file));
  for (const Exhibit& exhibit : museum_exhibits(workshop))
    check_no_tex(exhibit.name, exhibit.text());
}
