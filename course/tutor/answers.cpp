#include "course/tutor/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>

#include "apps/support/files.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/parallel.h"
#include "core/text.h"

namespace heed {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Where a person's answers may be: in the person's folder, or in a handed-in folder of this name
// below. Earlier versions of heed had them in course/.
constexpr const char* handed_in_folders[] = {"", "answers", "course"};

// `of_heed`: the files of heed's own folder course/, which may have been handed in, too.
Person find_answers(const std::vector<Exercise>& course, const ClassRequest& request,
                    const std::string& name, const std::vector<std::string>& of_heed) {
  Person person{name, {}, {}, {}};
  std::vector<std::string> folders, known;
  for (const char* folder : handed_in_folders)
    folders.push_back(in_folder(request.folder, *folder ? in_folder(name, folder) : name));
  for (const Exercise& exercise : course) {
    known.push_back(exercise.name + ".cpp");
    if (!contains(request.exercises, exercise.name)) continue;
    const auto holds = [&](const std::string& folder) {
      return exists(in_folder(folder, known.back()));
    };
    if (const auto found = std::ranges::find_if(folders, holds); found != folders.end())
      person.answers.push_back({exercise.name, in_folder(*found, known.back()), {}});
    else
      person.missing.push_back(exercise.name);
  }
  for (const std::string& folder : folders)
    for (const std::string& file : names_in_folder(folder))
      if (file.ends_with(".cpp") && !contains(known, file) && !contains(of_heed, file))
        person.unknown.push_back(file);
  return person;
}

}  // namespace

int64_t Person::passed() const {
  return std::count_if(answers.begin(), answers.end(),
                       [](const PersonAnswer& answer) { return answer.graded.passed(); });
}

std::vector<Person> grade_class(const Workshop& workshop, const std::vector<Exercise>& course,
                                const ClassRequest& request) {
  check_input(is_folder(request.folder), "{}: no such folder; give one with PERSON/EXERCISE.cpp",
              request.folder);
  const std::vector<std::string> of_heed = names_in_folder(workshop.chapters());
  std::vector<Person> persons;
  for (const std::string& name : names_in_folder(request.folder))
    if (!name.starts_with('.') && is_folder(in_folder(request.folder, name)))
      persons.push_back(find_answers(course, request, name, of_heed));
  std::vector<PersonAnswer*> answers;
  for (Person& person : persons)
    for (PersonAnswer& answer : person.answers) answers.push_back(&answer);
  check_input(!answers.empty(), "{}: expected answers PERSON/EXERCISE.cpp, found none",
              request.folder);

  std::atomic<size_t> next = 0;
  auto work = [&](int) {
    for (size_t i; (i = next++) < answers.size();) {
      GradeRequest how = request.how;
      how.exercise = answers[i]->exercise;
      how.file = answers[i]->file;
      try {
        answers[i]->graded = grade_answer(workshop, how);
      } catch (const std::exception& error) {  // one file that cannot be read is one answer's fault
        answers[i]->graded.problem = error.what();
      }
    }
  };
  run_workers(std::min(thread_count(), static_cast<int>(answers.size())), work);
  return persons;
}

Table answers_table(const std::vector<Person>& persons) {
  Table table{{{"person", "exercise", "result", "problem"}}, {}};
  for (const Person& person : persons)
    for (const auto& [exercise, file, graded] : person.answers)
      table.rows.push_back(
          {person.name, exercise, graded.passed() ? "passed" : "not yet",
           shortened(graded.sentence.empty() ? graded.problem : graded.sentence, 100)});
  return table;
}

Table persons_table(const std::vector<Person>& persons) {
  Table table{{{"person", "passed", "not yet", "missing", "files that are no exercise"}}, {}};
  for (const Person& person : persons)
    table.rows.push_back(
        {person.name, fmt::to_string(person.passed()),
         fmt::to_string(static_cast<int64_t>(person.answers.size()) - person.passed()),
         fmt::to_string(person.missing.size()), joined(person.unknown)});
  return table;
}

Json class_json(const std::vector<Person>& persons, const ClassRequest& request) {
  Json all = Json::array();
  for (const Person& person : persons) {
    Json answers = Json::array();
    for (const auto& [exercise, file, graded] : person.answers) {
      Json answer = Json::object();
      answer.set("exercise", exercise).set("file", file);
      graded.add_to(answer);
      answers.push(answer);
    }
    Json one = Json::object();
    one.set("person", person.name).set("passed", person.passed());
    one.set("not_yet", static_cast<int64_t>(person.answers.size()) - person.passed());
    one.set("missing", Json(person.missing)).set("unknown_files", Json(person.unknown));
    one.set("answers", answers);
    all.push(one);
  }
  Json json = Json::object();
  json.set("seed", static_cast<int64_t>(request.how.seed));
  json.set("exercises", Json(request.exercises)).set("persons", all);
  return json;
}

}  // namespace heed
