// The command of the course in the program: manual page, completion, what it shows of the library.
#include <doctest/doctest.h>

#include "apps/support/files.h"
#include "course/commands/room.h"
#include "course/tutor/catalogue.h"
#include "course/tutor/museum.h"
#include "course/tutor/workshop.h"
#include "manual_check.h"

using namespace heed;

TEST_CASE("course: manual page and completion name every option") {
  check_manual(course_commands::all);
}

// A terminal shows no TeX, so what heed prints has its formulas in Unicode.
TEST_CASE("course: tasks, hints, backgrounds and exhibits have no TeX") {
  const Workshop workshop = Workshop::find();
  const auto check_no_tex = [](const std::string& name, const std::string& text) {
    CAPTURE(name);
    CHECK(!text.empty());
    CHECK(text.find_first_of("$\\") == std::string::npos);
  };
  for (const std::string& name : exercise_names(workshop))
    for (const char* file : {"/task.md", "/hints.md", "/background.md"})
      check_no_tex(name + file,
                   read_file(in_folder(workshop.exercises(), name + file), "text", 1 << 20));
  for (const Exhibit& exhibit : museum_exhibits(workshop))
    check_no_tex(exhibit.name, exhibit.text());
}
