// What the grader of an exercise says about an answer.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "checks.h"
#include "course/grader/grader.h"

namespace heed::course {

// Calls f(exercise) for each exercise, in no order.
template <class F>
void for_each_exercise(F f) {
  for (const Exercise* each = Exercise::first; each; each = each->next) f(*each);
}

inline const Exercise& exercise(std::string_view name) {
  const Exercise* found = nullptr;
  for_each_exercise([&](const Exercise& each) {
    if (each.name == name) found = &each;
  });
  check(found, "there is no exercise {}", name);
  return *found;
}

// Returns "" if the answer passes with every seed, else what the learner reads about the first that
// it fails.
inline std::string verdict(const Exercise& of, const Answer& answer) {
  for (const uint64_t seed : {1, 2, 3})
    if (const auto finding = of.grade(seed, answer))
      return fmt::format("{}\n{}", finding->problem, finding->sentence);
  return "";
}

// verdict("heads", function…); a function may be a lambda that captures nothing
template <class... Function>
std::string verdict(std::string_view name, Function... answer) {
  return verdict(exercise(name), Answer::of(+answer...));
}

// Checks that the grader finds a mistake with every seed, and that its sentence contains `part`.
inline void check_sentence(const char* file, int line, std::string_view part, const Exercise& of,
                           const Answer& answer) {
  for (const uint64_t seed : {1, 2, 3}) {
    const auto finding = of.grade(seed, answer);
    check_contains(finding ? finding->sentence : "passed", part, file, line);
  }
}

// CHECK_SAYS("Not a number", "heads", function…)
#define CHECK_SAYS(...) heed::course::check_says(__FILE__, __LINE__, __VA_ARGS__)
template <class... Function>
void check_says(const char* file, int line, std::string_view part, std::string_view name,
                Function... answer) {
  check_sentence(file, line, part, exercise(name), Answer::of(+answer...));
}

}  // namespace heed::course
