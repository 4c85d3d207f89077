// The shipped file and the solution of every exercise: samples.cmake writes the definition.
#pragma once

#include <map>
#include <string>

#include "course/grader/grader.h"

namespace heed::course {

struct Sample {
  Answer shipped, solution;
};
const std::map<std::string, Sample>& samples();

}  // namespace heed::course
