// Grades a learner's answer: compiles the one file, and runs it in a process of its own.
//
// The process says its verdict over a pipe, with a token that it takes before any code of the
// answer runs (course/grader/program.cpp). Whatever else the process does is no verdict: it
// may crash, print "passed", loop, or exit. This finds accidents and pranks; an answer that is
// written to search the memory of its process for the token is not kept from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/support/json.h"
#include "core/named.h"
#include "course/tutor/workshop.h"

namespace heed {

enum class Grade { passed, wrong, not_compiled, failed };
inline constexpr Named<Grade> grade_names[] = {{"passed", Grade::passed},
                                               {"wrong", Grade::wrong},
                                               {"does not compile", Grade::not_compiled},
                                               {"failed", Grade::failed}};

struct GradedAnswer {
  Grade grade = Grade::failed;
  std::string problem;   // one line: what is wrong
  std::string sentence;  // what it looks like; may be empty
  std::string messages;  // of the compiler
  std::string printed;   // by the answer
  // Mean losses of a training with the answer in place of the library's function; or none.
  std::vector<double> losses;
  double difference = 0;  // the largest, from the losses with the library's own function

  bool passed() const { return grade == Grade::passed; }
  void add_to(Json& object) const;
};

struct GradeRequest {
  std::string exercise;
  std::string file;  // the answer
  uint64_t seed = 0;
  double seconds = 5;  // of processor time for the grader; a training may take eight times that
};

// Throws InputError if the file cannot be read.
GradedAnswer grade_answer(const Workshop& workshop, const GradeRequest& request);

}  // namespace heed
