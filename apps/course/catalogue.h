// The exercises of the course, in the order in which the chapters name them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

struct Exercise {
  std::string name;     // "layer-norm"
  std::string title;    // the heading of its task.md
  std::string folder;   // docs/course/exercises/NAME
  std::string chapter;  // the heading of the chapter that names it; empty if none does
  int64_t minutes = 0;  // 0: its task.md does not say
  bool fast_track = false;

  // The parts of its text: task.md and so on.
  std::string text(const std::string& file) const;
  std::vector<std::string> hints() const;
};

class Catalogue {
 public:
  // Reads the headings of the chapters and of the exercises.
  Catalogue(const std::string& chapters, const std::string& exercises);

  const std::vector<Exercise>& all() const { return exercises_; }
  // Throws InputError, with the closest name, if there is no such exercise.
  const Exercise& at(const std::string& name) const;

 private:
  std::vector<Exercise> exercises_;
};

}  // namespace heed
