// The command of the course in the program: manual page, completion, what it shows of the library.
#include <doctest/doctest.h>

#include "course/commands/room.h"
#include "course/tutor/catalogue.h"
#include "course/tutor/library_function.h"
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
    CHECK_NOTHROW(library_function(workshop.sources, exercise.file("background.md")));
  }
}
