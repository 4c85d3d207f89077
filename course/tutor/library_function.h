// What of the library an exercise is about: a function, or what else its background links to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

struct LibraryFunction {
  std::string file;             // relative to the sources
  int64_t first = 0, last = 0;  // lines, from 1
  std::string text;             // of these lines, with the comment above
};

// The first name that `background` links to, [`name`](../../../core/x.cpp), and those that " and "
// joins to it. Throws Error if there is none, or if a file neither defines nor declares its name.
std::vector<LibraryFunction> library_functions(const std::string& sources,
                                               const std::string& background);

}  // namespace heed
