// What belongs to the chapters of the course: exercises, and the exhibits of the museum. Each is a
// folder of texts. course.sh reads and shows these texts; the program asks it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/check.h"
#include "core/suggest.h"
#include "core/text.h"
#include "course/tutor/workshop.h"

namespace heed {

struct CourseItem {
  std::string name;    // "layer-norm", that of its folder
  std::string title;   // the heading of its text
  std::string folder;  // course/museum/NAME

  std::string file(const std::string& file_name) const;  // the text of a file of the folder
};

// Returns what `course/tutor/course.sh ARGUMENTS` prints. Throws Error if it fails.
std::string course_text(const Workshop& workshop, const std::vector<std::string>& arguments);

// Returns the names of the exercises, in the order in which the chapters name them.
std::vector<std::string> exercise_names(const Workshop& workshop, bool fast_track = false);

// Throws InputError, with the closest name, unless `name` is among `names`. `list` is the command
// that lists those of this kind.
void check_name(const std::string& name, const std::vector<std::string>& names, const char* kind,
                const std::string& list);

}  // namespace heed
