// Other people's answers, graded in one call: FOLDER/PERSON/EXERCISE.cpp.
#pragma once

#include <string>
#include <vector>

#include "apps/course/answer.h"
#include "apps/course/catalogue.h"

namespace heed {

struct PersonAnswer {
  std::string person, exercise, file;
  GradedAnswer graded;
};

// Grades every answer in the folder, or those to `exercise` unless it is empty: persons in
// alphabetic order, exercises in the order of the course. Several are graded at once. Throws
// InputError if there is no answer.
std::vector<PersonAnswer> grade_answers(const Workshop& workshop, const Catalogue& catalogue,
                                        const std::string& folder, const std::string& exercise,
                                        const GradeRequest& how);

}  // namespace heed
