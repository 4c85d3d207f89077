// The answers of a class, graded in one call: FOLDER/PERSON/EXERCISE.cpp. They may also be in a
// folder "answers" or "course" below that of the person.
#pragma once

#include <string>
#include <vector>

#include "apps/support/table.h"
#include "course/tutor/answer.h"
#include "course/tutor/class_plan.h"

namespace heed {

struct PersonAnswer {
  std::string exercise, file;
  bool is_late = false;  // by the time at which the file was last changed
  GradedAnswer graded = {};
  double points = 0;
};

struct Person {
  std::string name;
  std::vector<PersonAnswer> answers;  // in the order of the course
  std::vector<std::string> missing;   // exercises without an answer
  std::vector<std::string> unknown;   // other C++ files in the person's folder

  int64_t passed() const;
  double points() const;
};

struct ClassRequest {
  std::string folder;
  bool one_person = false;  // the folder is that of one person, not of the class
  ClassPlan plan;           // without weeks: each exercise has one point, and nothing is late
  std::vector<std::string> exercises;  // those that are graded
  GradeRequest how;
};

// Grades the answers of every person, in alphabetic order. `course` has the names of all exercises.
// Several are graded at once. Throws
// InputError if there is no answer.
std::vector<Person> grade_class(const Workshop& workshop, const std::vector<std::string>& course,
                                const ClassRequest& request);

// A row for each answer, and a row for each person.
Table answers_table(const std::vector<Person>& persons);
Table persons_table(const std::vector<Person>& persons, const ClassRequest& request);
// The points of each person in each exercise: for CSV.
Table points_table(const std::vector<Person>& persons, const ClassRequest& request);
Json class_json(const std::vector<Person>& persons, const ClassRequest& request);
// The results.json that Gradescope reads (gradescope-autograders.readthedocs.io, "Output format").
Json gradescope_json(const Person& person, const ClassRequest& request);

}  // namespace heed
