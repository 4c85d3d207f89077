// The program that grades one learner's answer to one exercise.
//
//   PROGRAM EXERCISE SEED
//
// Prints what is wrong. Its exit code is 0 if nothing is, else 1.
#include <fmt/core.h>

#include <cstdlib>
#include <string_view>

#include "docs/course/grader/grader.h"

int main(int argc, char** argv) {
  using namespace heed::course;
  if (argc != 3) return 2;
  const std::string_view exercise = argv[1];
  const uint64_t seed = std::strtoull(argv[2], nullptr, 10);
  const Binding* binding = Binding::first;
  while (binding && binding->exercise != exercise) binding = binding->next;
  if (!binding || !binding->defined) return 2;
  const std::optional<Finding> finding = run_grader(seed, binding->grade);
  if (finding) fmt::print("{}\n{}\n", finding->problem, finding->sentence);
  return finding ? 1 : 0;
}
