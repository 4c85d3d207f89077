#include "apps/course/answers.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "apps/support/files.h"
#include "core/check.h"
#include "core/parallel.h"

namespace heed {
namespace {

std::vector<PersonAnswer> answers_in(const Catalogue& catalogue, const std::string& folder,
                                     const std::string& exercise) {
  std::vector<PersonAnswer> answers;
  for (const std::string& person : names_in_folder(folder))
    for (const Exercise& one : catalogue.all()) {
      const std::string file = in_folder(in_folder(folder, person), one.name + ".cpp");
      if ((exercise.empty() || one.name == exercise) && exists(file))
        answers.push_back({person, one.name, file, {}});
    }
  return answers;
}

}  // namespace

std::vector<PersonAnswer> grade_answers(const Workshop& workshop, const Catalogue& catalogue,
                                        const std::string& folder, const std::string& exercise,
                                        const GradeRequest& how) {
  check_input(is_folder(folder), "{}: no such folder; give one with PERSON/EXERCISE.cpp", folder);
  std::vector<PersonAnswer> answers = answers_in(catalogue, folder, exercise);
  check_input(!answers.empty(), "{}: expected answers PERSON/EXERCISE.cpp, found none", folder);
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i; (i = next++) < answers.size();) {
      GradeRequest request = how;
      request.exercise = answers[i].exercise;
      request.file = answers[i].file;
      try {
        answers[i].graded = grade_answer(workshop, request);
      } catch (const std::exception& error) {  // one file that cannot be read is one answer's fault
        answers[i].graded.problem = error.what();
      }
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 1; i < std::min<int>(thread_count(), static_cast<int>(answers.size())); ++i)
    threads.emplace_back(work);
  work();
  threads.clear();
  return answers;
}

}  // namespace heed
