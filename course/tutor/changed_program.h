// Builds the program with a change of a few source files, in seconds: compiles only what contains
// these files, and links it with the libraries of the build. What is compiled anew defines
// everything that its old object in a library does, so that the linker leaves that one out.
#pragma once

#include <string>
#include <vector>

#include "course/tutor/workshop.h"

namespace heed {

struct SourceChange {
  std::string patch;               // the text of a diff, for git apply
  std::vector<std::string> files;  // that it changes, relative to the sources
};

// Builds FOLDER/heed. FOLDER/sources gets the changed files. Throws Error if the change does not
// fit the sources or does not compile, InputError if the build folder is not one of ninja.
void build_changed_program(const Workshop& workshop, const SourceChange& change,
                           const std::string& folder);

}  // namespace heed
