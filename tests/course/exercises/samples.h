// The shipped file and the solution of every exercise: samples.cmake writes the definition.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "course/grader/grader.h"

namespace heed::course {

struct Sample {
  Answer shipped, solution;
};
const std::map<std::string, Sample>& samples();

// A function of the solution, or of what is shipped, by its type.
template <class Function>
Function solution_of(const std::string& exercise, size_t number = 0) {
  return reinterpret_cast<Function>(samples().at(exercise).solution.functions.at(number));
}
template <class Function>
Function shipped_of(const std::string& exercise) {
  return reinterpret_cast<Function>(samples().at(exercise).shipped.functions.at(0));
}

// The largest difference of the elements of two tensors of one shape.
inline double largest_difference(const Tensor& a, const Tensor& b) {
  heed::check(a.shape() == b.shape(), "shapes {} and {}", a.shape(), b.shape());
  double largest = 0;
  for (int64_t i = 0; i < a.size(); ++i)
    largest = std::max<double>(largest, std::fabs(a.data()[i] - b.data()[i]));
  return largest;
}

}  // namespace heed::course
