// heed course: the museum and the answers of a class; for all else, the script course.sh.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>
#include <unistd.h>

#include "apps/support/json.h"
#include "apps/support/shell.h"
#include "apps/support/table.h"
#include "apps/support/terminal.h"
#include "core/check.h"
#include "course/commands/course_museum.h"
#include "course/commands/room.h"
#include "course/tutor/answers.h"
#include "course/tutor/catalogue.h"
#include "course/tutor/workshop.h"

namespace heed {
namespace {

struct CourseArguments final : CommandArguments {
  std::string action = "list", exercise, folder, answers, plan;
  std::vector<std::string> exercises;
  bool watch = false, fast = false, json = false, csv = false, gradescope = false;
  int64_t week = 0;
  std::optional<int64_t> seed;
  double seconds = 5;

  std::vector<Option> options() override {
    constexpr Range hour{1, 3600};
    return {
        {"[ACTION]", "list|next|start|check|hint|reset|show|museum", &action,
         "What to do (default: list)"},
        {"[NAME]", "", &exercise,
         "Exercise (default: the one that was started or checked last), or exhibit of the museum"},
        {"--fast", "", &fast,
         "list, next, --answers: only the fast track, one exercise of each chapter"},
        {"--watch", "", &watch, "check: check again whenever the answer is saved, until it passes"},
        {"--seed", "SEED", &seed,
         "check: seed of the sizes and values (default: a new one every time)", seed_range},
        {"--seconds", "S", &seconds, "check: processor time that an answer may take (default: 5)",
         hour},
        {"--answers", "DIR", &answers, "check: grade other people's answers, DIR/PERSON/NAME.cpp"},
        {"--exercises", "NAME[,NAME]", &exercises,
         "--answers: the exercises to grade (default: NAME, or all)"},
        {"--plan", "FILE", &plan,
         "--answers: grade the exercises of a plan, with its points and dates (course/class.toml)"},
        {"--week", "N", &week, "--plan: only the exercises of this week (default: all)",
         Range{1, 1000}},
        {"--csv", "", &csv, "--answers: print the points as CSV"},
        {"--gradescope", "", &gradescope,
         "--answers: print results.json for Gradescope; DIR is the folder of one person"},
        {"--folder", "DIR", &folder,
         "Folder of your answers and your progress (default: answers in the folder of heed)"},
        json_option(json)};
  }
  int run() const override;
};

std::string shown(const char* option, const std::string& value) {
  return fmt::format("--{}={}", option, value);
}

// Becomes the script that does what needs only texts, and shows the verdict of a check.
[[noreturn]] void become_texts(const CourseArguments& arguments, const Workshop& workshop) {
  std::vector<std::string> words{workshop.texts(), heed_command({}), workshop.build,
                                 arguments.action};
  if (!arguments.exercise.empty()) words.push_back(arguments.exercise);
  for (const auto& [given, flag] :
       {std::pair(arguments.fast, "--fast"), std::pair(arguments.watch, "--watch"),
        std::pair(arguments.json, "--json")})
    if (given) words.emplace_back(flag);
  if (arguments.seed) words.push_back(shown("seed", fmt::to_string(*arguments.seed)));
  if (!arguments.folder.empty()) words.push_back(shown("folder", arguments.folder));
  words.push_back(shown("seconds", fmt::to_string(arguments.seconds)));
  words.push_back(shown("color", shows_colours(STDOUT_FILENO) ? "always" : "never"));
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(pointers[0], pointers.data());
  check(false, "{}: cannot be run: {}", words[0], std::strerror(errno));
  std::abort();
}

// The exercises that --answers grades.
std::vector<std::string> asked_for(const CourseArguments& arguments, const ClassPlan& plan,
                                   const Workshop& workshop) {
  std::vector<std::string> names = arguments.exercises;
  if (!arguments.exercise.empty()) names.push_back(arguments.exercise);
  const auto all = exercise_names(workshop);
  for (const std::string& name : names) check_name(name, all, "exercise", heed_command({"course"}));
  if (names.empty()) names = plan.exercises(arguments.week);
  return names.empty() ? exercise_names(workshop, arguments.fast) : names;
}

int check_answers(const CourseArguments& arguments, const Workshop& workshop) {
  check_input(arguments.action == "check", "--answers belongs to heed course check");
  check_input(arguments.csv + arguments.gradescope + arguments.json <= 1,
              "--csv, --gradescope and --json: choose one");
  check_input(arguments.week == 0 || !arguments.plan.empty(), "--week belongs to --plan");
  const auto course = exercise_names(workshop);
  const ClassPlan plan =
      arguments.plan.empty() ? ClassPlan() : ClassPlan::read(arguments.plan, course);
  std::random_device random;
  const auto seed = static_cast<uint64_t>(arguments.seed.value_or(random() % 1'000'000));
  const ClassRequest asked{arguments.answers,
                           arguments.gradescope,
                           plan,
                           asked_for(arguments, plan, workshop),
                           {"", "", seed, arguments.seconds}};
  workshop.check_built();
  const std::vector<Person> persons = grade_class(workshop, course, asked);
  if (arguments.gradescope) {
    print(gradescope_json(persons.front(), asked).text(2) + "\n");
    return exit_done;  // the scores say what passes
  }
  if (arguments.json) {
    print(class_json(persons, asked).text(2) + "\n");
  } else if (arguments.csv) {
    print(points_table(persons, asked).csv());
  } else {
    Table summary = persons_table(persons, asked);
    summary.notes = {fmt::format("exercises: {}, seed {}", asked.exercises.size(), asked.how.seed)};
    print(answers_table(persons).text(4) + "\n" + summary.text());
  }
  const bool passed = std::ranges::all_of(persons, [](const Person& person) {
    return person.passed() == static_cast<int64_t>(person.answers.size());
  });
  return passed ? exit_done : exit_failed;
}

int CourseArguments::run() const {
  if (action == "museum") return course_museum(exercise, json);
  const Workshop workshop = Workshop::find();
  if (!answers.empty()) return check_answers(*this, workshop);
  for (const auto& [given, option] :
       {std::pair(!exercises.empty(), "--exercises"), std::pair(!plan.empty(), "--plan"),
        std::pair(csv, "--csv"), std::pair(gradescope, "--gradescope")})
    check_input(!given, "{} belongs to --answers", option);
  become_texts(*this, workshop);
}

}  // namespace

const Command course_commands::course = {
    .name = "course",
    .summary = "Learn how heed works with graded exercises",
    .details =
        "The chapters are in course/. In an exercise you write one C++ function, in a file that\n"
        "start creates. check compiles only this file, calls the function with new sizes and\n"
        "values each time, and says what is wrong. Its last line is \"passed\" or \"not yet\".\n"
        "\n"
        "  list   Lists the exercises, and which of them you have passed\n"
        "  next   Names the first exercise that you have not passed\n"
        "  start  Creates answers/NAME.cpp and prints the task\n"
        "  check  Grades your answer; exit code 0: passed, 1: not yet, 2: no such exercise\n"
        "  hint   Prints one more hint each time\n"
        "  reset  Starts again, and keeps your answer as NAME.cpp.old\n"
        "  show   Prints the library's own function, after yours passes\n"
        "  museum Lists mistakes that compile; with a NAME, builds heed with that mistake, trains\n"
        "         with and without it, and shows both side by side\n"
        "\n"
        "Examples:\n"
        "  heed course start basic-attention\n"
        "  heed course check --watch\n"
        "  heed course check --answers class --plan course/class.toml --csv\n"
        "  heed course museum softmax-wrong-axis",
    .arguments = make_arguments<CourseArguments>,
};

}  // namespace heed
