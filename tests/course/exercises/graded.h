// What the grader of an exercise says about an answer.
#pragma once

#include <fmt/format.h>

#include <string>

#include "checks.h"
#include "course/grader/grader.h"

namespace heed::course {

// graded(grade_NAME, answer…): "" if the answer passes with every seed; else what the learner reads
// about the first that it fails.
template <class... Function>
std::string graded(void (*grade)(Grader& g, Function...),
                   std::type_identity_t<Function>... answer) {
  for (const uint64_t seed : {1, 2, 3}) {
    const auto finding = run_grader(seed, [=](Grader& g) { grade(g, answer...); });
    if (finding) return fmt::format("{}\n{}", finding->problem, finding->sentence);
  }
  return "";
}

// Checks that the grader finds a mistake with every seed, and that its sentence contains `part`.
template <class... Function>
void check_named(const char* file, int line, const std::string& part,
                 void (*grade)(Grader& g, Function...), std::type_identity_t<Function>... answer) {
  for (const uint64_t seed : {1, 2, 3}) {
    const auto finding = run_grader(seed, [=](Grader& g) { grade(g, answer...); });
    check_contains(finding ? finding->sentence : "passed", part, file, line);
  }
}

}  // namespace heed::course

// CHECK_NAMED("the softmax is taken over", grade_NAME, answer…)
#define CHECK_NAMED(...) heed::course::check_named(__FILE__, __LINE__, __VA_ARGS__)
