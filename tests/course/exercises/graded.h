// What the grader of an exercise says about an answer.
#pragma once

#include <fmt/format.h>

#include <string>

#include "docs/course/grader/grader.h"

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

// Whether every seed gives a finding with this sentence; else what it gives.
template <class... Function>
std::string named(const std::string& sentence, void (*grade)(Grader& g, Function...),
                  std::type_identity_t<Function>... answer) {
  for (const uint64_t seed : {1, 2, 3}) {
    const auto finding = run_grader(seed, [=](Grader& g) { grade(g, answer...); });
    if (!finding) return "passed";
    if (finding->sentence.find(sentence) == std::string::npos)
      return fmt::format("{}\n{}", finding->problem, finding->sentence);
  }
  return sentence;
}

}  // namespace heed::course

// CHECK_NAMED("the softmax is taken over", grade_NAME, answer…)
#define CHECK_NAMED(sentence, ...) \
  CHECK(heed::course::named(sentence, __VA_ARGS__) == std::string(sentence))
