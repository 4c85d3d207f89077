// A learner's folder: the answers, and progress.json, which records how far the learner is.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace heed {

struct ExerciseProgress {
  bool passed = false;
  int64_t hints = 0;  // shown so far
};

class Progress {
 public:
  // Reads the file. Throws InputError if it is damaged; without one, nothing is done yet.
  explicit Progress(const std::string& folder);

  const ExerciseProgress& of(const std::string& exercise) const;
  ExerciseProgress& change(const std::string& exercise) { return exercises_[exercise]; }
  // The exercise that was started or checked last; empty if none was.
  std::string current;

  void save() const;  // makes the folder, too

 private:
  std::string file_;
  std::map<std::string, ExerciseProgress> exercises_;
};

}  // namespace heed
