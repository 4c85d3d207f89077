#include "course/tutor/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <sys/stat.h>

#include "apps/support/clock.h"
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

// Returns when a file was last changed, in UTC.
std::string handed_in_at(const std::string& file) {
  struct stat found {};
  return ::stat(file.c_str(), &found) == 0 ? utc_time(iso_time, found.st_mtime) : "";
}

std::string in_points(double points) { return fmt::format("{:g}", points); }

double most_points(const ClassRequest& request) {
  double most = 0;
  for (const std::string& exercise : request.exercises) most += request.plan.points(exercise);
  return most;
}

// The answers of a person: in the person's folder, or in a folder answers/ that was handed in.
Person find_answers(const std::vector<std::string>& course, const ClassRequest& request,
                    const std::string& own) {
  Person person{name_of(own), {}, {}, {}};
  const std::vector<std::string> folders = {own, in_folder(own, "answers")};
  std::vector<std::string> known;
  for (const std::string& exercise : course) {
    known.push_back(exercise + ".cpp");
    if (!contains(request.exercises, exercise)) continue;
    const auto holds = [&](const std::string& folder) {
      return exists(in_folder(folder, known.back()));
    };
    if (const auto found = std::ranges::find_if(folders, holds); found != folders.end()) {
      const std::string file = in_folder(*found, known.back());
      person.answers.push_back(
          {exercise, file, request.plan.is_late(exercise, handed_in_at(file))});
    } else {
      person.missing.push_back(exercise);
    }
  }
  for (const std::string& folder : folders)
    for (const std::string& file : names_in_folder(folder))
      if (file.ends_with(".cpp") && !contains(known, file)) person.unknown.push_back(file);
  return person;
}

}  // namespace

int64_t Person::passed() const {
  return std::count_if(answers.begin(), answers.end(),
                       [](const PersonAnswer& answer) { return answer.graded.passed(); });
}

double Person::points() const {
  double all = 0;
  for (const PersonAnswer& answer : answers) all += answer.points;
  return all;
}

std::vector<Person> grade_class(const Workshop& workshop, const std::vector<std::string>& course,
                                const ClassRequest& request) {
  check_input(is_folder(request.folder), "{}: no such folder; give one with PERSON/EXERCISE.cpp",
              request.folder);
  std::vector<Person> persons;
  if (request.one_person)
    persons.push_back(find_answers(course, request, request.folder));
  else
    for (const std::string& name : names_in_folder(request.folder))
      if (const std::string own = in_folder(request.folder, name);
          !name.starts_with('.') && is_folder(own))
        persons.push_back(find_answers(course, request, own));
  std::vector<PersonAnswer*> answers;
  for (Person& person : persons)
    for (PersonAnswer& answer : person.answers) answers.push_back(&answer);
  check_input(request.one_person || !answers.empty(),
              "{}: expected answers PERSON/EXERCISE.cpp, found none", request.folder);

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
  for (PersonAnswer* answer : answers)
    if (answer->graded.passed())
      answer->points = request.plan.points(answer->exercise, answer->is_late);
  return persons;
}

Table answers_table(const std::vector<Person>& persons) {
  Table table{{{"person", "exercise", "result", "problem"}}, {}};
  for (const Person& person : persons)
    for (const PersonAnswer& answer : person.answers) {
      const GradedAnswer& graded = answer.graded;
      table.rows.push_back(
          {person.name, answer.exercise,
           std::string(graded.passed() ? "passed" : "not yet") + (answer.is_late ? ", late" : ""),
           shortened(graded.sentence.empty() ? graded.problem : graded.sentence, 100)});
    }
  return table;
}

Table persons_table(const std::vector<Person>& persons, const ClassRequest& request) {
  Table table{{{"person", "passed", "not yet", "missing"}}, {}};
  const bool counts = !request.plan.weeks.empty();
  if (counts) table.rows[0].insert(table.rows[0].end(), {"points", "of"});
  table.rows[0].emplace_back("files that are no exercise");
  for (const Person& person : persons) {
    Table::Row row{person.name, fmt::to_string(person.passed()),
                   fmt::to_string(static_cast<int64_t>(person.answers.size()) - person.passed()),
                   fmt::to_string(person.missing.size())};
    if (counts)
      row.insert(row.end(), {in_points(person.points()), in_points(most_points(request))});
    row.push_back(joined(person.unknown));
    table.rows.push_back(row);
  }
  return table;
}

Table points_table(const std::vector<Person>& persons, const ClassRequest& request) {
  Table table{{{"person"}}, {}};
  for (const std::string& exercise : request.exercises) table.rows[0].push_back(exercise);
  table.rows[0].insert(table.rows[0].end(), {"points", "of", "late"});
  for (const Person& person : persons) {
    Table::Row row{person.name};
    std::vector<std::string> late;
    for (const std::string& exercise : request.exercises) {
      const auto found = std::ranges::find(person.answers, exercise, &PersonAnswer::exercise);
      const bool missing = found == person.answers.end();
      row.push_back(missing ? "" : in_points(found->points));
      if (!missing && found->is_late) late.push_back(exercise);
    }
    row.insert(row.end(),
               {in_points(person.points()), in_points(most_points(request)), joined(late, " ")});
    table.rows.push_back(row);
  }
  return table;
}

Json gradescope_json(const Person& person, const ClassRequest& request) {
  Json tests = Json::array();
  for (const std::string& exercise : request.exercises) {
    const auto found = std::ranges::find(person.answers, exercise, &PersonAnswer::exercise);
    Json test = Json::object();
    test.set("name", exercise).set("max_score", request.plan.points(exercise));
    if (found == person.answers.end()) {
      test.set("score", 0).set("status", "failed");
      test.set("output", exercise + ".cpp was not handed in");
    } else {
      const GradedAnswer& graded = found->graded;
      test.set("score", found->points).set("status", graded.passed() ? "passed" : "failed");
      std::string output = graded.passed() ? "passed" : graded.problem;
      for (const std::string& more : {graded.sentence, graded.messages})
        if (!more.empty()) output += "\n" + more;
      test.set("output", output);
    }
    tests.push(test);
  }
  Json json = Json::object();
  json.set("output", fmt::format("seed {}", request.how.seed)).set("tests", tests);
  return json;
}

Json class_json(const std::vector<Person>& persons, const ClassRequest& request) {
  Json all = Json::array();
  for (const Person& person : persons) {
    Json answers = Json::array();
    for (const PersonAnswer& each : person.answers) {
      Json answer = Json::object();
      answer.set("exercise", each.exercise).set("file", each.file);
      if (!request.plan.weeks.empty()) answer.set("late", each.is_late).set("points", each.points);
      each.graded.add_to(answer);
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
