// What the course needs besides the program: the sources of heed, and in its build folder the
// libraries that a learner's answer is compiled and linked with. course/grader/CMakeLists.txt
// writes where they are into course/settings.json of the build folder that the program is in.
#pragma once

#include <string>
#include <vector>

namespace heed {

struct Workshop {
  std::string build;    // folder of the build
  std::string sources;  // folder of heed's sources
  std::string compiler;
  std::vector<std::string> compile, link;  // its arguments before and after the file
  std::string training;                    // program that trains with the library's own functions
  std::vector<std::string> needed;  // files that must be built before an answer can be graded

  // Throws InputError if the program has no sources, as when it is installed.
  static Workshop find();
  std::string chapters() const;   // folder of the chapters
  std::string exercises() const;  // folder of the exercises
  std::string museum() const;     // folder of the museum's exhibits
  std::string texts() const;      // the script course.sh
  // Throws InputError, saying what to do, unless everything that is needed is built.
  void check_built() const;
};

}  // namespace heed
