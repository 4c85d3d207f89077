// The library's own function that an exercise is about.
#pragma once

#include <cstdint>
#include <string>

namespace heed {

struct LibraryFunction {
  std::string file;             // relative to the sources
  int64_t first = 0, last = 0;  // lines, from 1
  std::string text;             // of these lines, with the comment above
};

// The first function that `background` links to, as chapters do: [`name`](../../../../core/x.cpp).
// Throws Error if there is none, or if the file does not define it.
LibraryFunction library_function(const std::string& sources, const std::string& background);

}  // namespace heed
