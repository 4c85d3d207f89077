// The command of the course in the program: manual page, completion.
#include <doctest/doctest.h>

#include "course/commands/room.h"
#include "manual_check.h"

using namespace heed;

TEST_CASE("course: manual page and completion name every option") {
  check_manual(course_commands::all);
}
