// heed course: the exercises of the course.
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <unistd.h>

#include "apps/support/files.h"
#include "apps/support/interrupt.h"
#include "apps/support/json.h"
#include "apps/support/log.h"
#include "apps/support/shell.h"
#include "apps/support/table.h"
#include "apps/support/terminal.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/suggest.h"
#include "core/text.h"
#include "course/commands/course_museum.h"
#include "course/commands/room.h"
#include "course/tutor/answer.h"
#include "course/tutor/answers.h"
#include "course/tutor/catalogue.h"
#include "course/tutor/library_function.h"
#include "course/tutor/progress.h"
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

// One call of the command.
class CourseSession {
 public:
  explicit CourseSession(const CourseArguments& arguments)
      : arguments_(arguments),
        workshop_(Workshop::find()),
        exercises_(course_exercises(workshop_)),
        folder_(arguments.folder.empty() ? in_folder(workshop_.sources, "answers")
                                         : arguments.folder),
        progress_(folder_) {}

  int run() {
    if (arguments_.action == "list") return list();
    if (arguments_.action == "next") return next();
    if (!arguments_.answers.empty()) return check_answers();
    for (const auto& [given, option] :
         {std::pair(!arguments_.exercises.empty(), "--exercises"),
          std::pair(!arguments_.plan.empty(), "--plan"), std::pair(arguments_.csv, "--csv"),
          std::pair(arguments_.gradescope, "--gradescope")})
      check_input(!given, "{} belongs to --answers", option);
    const Exercise& exercise = chosen();
    if (arguments_.action == "start") return start(exercise);
    if (arguments_.action == "check")
      return arguments_.watch ? watch(exercise) : check_once(exercise);
    if (arguments_.action == "hint") return hint(exercise);
    if (arguments_.action == "reset") return reset(exercise);
    return show(exercise);
  }

 private:
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Exercise& exercise : exercises_) names.push_back(exercise.name);
    return names;
  }

  const Exercise& chosen() const {
    const std::string& name = arguments_.exercise.empty() ? progress_.current : arguments_.exercise;
    check_input(!name.empty(), "which exercise? give its name; {} lists them",
                heed_command({"course"}));
    return exercise_named(name);
  }

  const Exercise& exercise_named(const std::string& name) const {
    return item_named(name, exercises_, "exercise", heed_command({"course"}));
  }

  // "answers/softmax.cpp", relative to the current folder if it is below.
  std::string answer(const Exercise& exercise) const {
    const std::string file = in_folder(folder_, exercise.name + ".cpp");
    const std::string here = absolute_path(".", ".") + "/";
    return file.starts_with(here) ? file.substr(here.size()) : file;
  }

  const char* state(const Exercise& exercise) const {
    return progress_.of(exercise.name).passed ? "passed"
           : exists(answer(exercise))         ? "started"
                                              : "";
  }

  std::string command_for(const Exercise& exercise) const {
    return command(*state(exercise) ? "check" : "start", exercise) + "\n";
  }
  static std::string command(const char* verb, const Exercise& exercise) {
    return heed_command({"course", verb, exercise.name});
  }

  std::vector<const Exercise*> listed() const {
    std::vector<const Exercise*> exercises;
    for (const Exercise& exercise : exercises_)
      if (exercise.fast_track || !arguments_.fast) exercises.push_back(&exercise);
    return exercises;
  }

  const Exercise* next_exercise() const {
    for (const Exercise* exercise : listed())
      if (!progress_.of(exercise->name).passed) return exercise;
    return nullptr;
  }

  int list() const {
    if (arguments_.json) return list_json();
    Table table;
    int64_t passed = 0;
    std::string chapter;
    const auto exercises = listed();
    for (const Exercise* exercise : exercises) {
      const std::string& name = exercise->chapter.empty() ? "Other" : exercise->chapter;
      if (table.rows.empty() || name != chapter) table.rows.push_back({name});
      chapter = name;
      table.rows.push_back(
          {"  " + exercise->name, exercise->title,
           fmt::format("{} min{}", exercise->minutes, exercise->fast_track ? ", fast track" : ""),
           state(*exercise)});
      passed += progress_.of(exercise->name).passed;
    }
    print(table.text(4));
    print(fmt::format("\n{} of {} passed. ", passed, exercises.size()));
    if (const Exercise* exercise = next_exercise())
      print("Next: " + command_for(*exercise));
    else
      print("\n");
    return exit_done;
  }

  int list_json() const {
    Json all = Json::array();
    for (const Exercise* exercise : listed()) {
      const char* const now = state(*exercise);
      Json one = Json::object();
      one.set("name", exercise->name).set("title", exercise->title);
      one.set("chapter", exercise->chapter).set("minutes", exercise->minutes);
      one.set("fast_track", exercise->fast_track).set("state", *now ? now : "not started");
      one.set("hints_shown", progress_.of(exercise->name).hints);
      one.set("hints", static_cast<int64_t>(exercise->hints().size()));
      all.push(one);
    }
    print(all.text(2) + "\n");
    return exit_done;
  }

  int next() const {
    const Exercise* exercise = next_exercise();
    if (!exercise) {
      print("You have passed all exercises.\n");
      return exit_done;
    }
    print(fmt::format("{}: {}, {} minutes\n", exercise->name, exercise->title, exercise->minutes));
    if (!exercise->chapter.empty()) print(fmt::format("Chapter {}\n", exercise->chapter));
    print(command_for(*exercise));
    return exit_done;
  }

  int start(const Exercise& exercise) {
    const std::string file = answer(exercise);
    check_input(!exists(file), "{} exists: it is your answer; {} starts again", file,
                command("reset", exercise));
    progress_.current = exercise.name;
    progress_.change(exercise.name);
    progress_.save();
    write_file(file, exercise.file("exercise.cpp"));
    print(exercise.shown("task.md"));
    print(fmt::format("\nWrite it in {}, then: {}\n", file, command("check", exercise)));
    return exit_done;
  }

  int reset(const Exercise& exercise) {
    const std::string file = answer(exercise);
    if (exists(file)) rename_in_folder(file, file + ".old");
    progress_.change(exercise.name) = {};
    progress_.save();
    write_file(file, exercise.file("exercise.cpp"));
    print(fmt::format("{} is as at the start; what it was is in {}.old\n", file, file));
    return exit_done;
  }

  int hint(const Exercise& exercise) {
    const std::vector<std::string> hints = exercise.hints();
    const auto count = static_cast<int64_t>(hints.size());
    ExerciseProgress& own = progress_.change(exercise.name);
    const bool more = own.hints < count;
    if (more) ++own.hints;
    own.hints = std::clamp<int64_t>(own.hints, 1, count);
    for (int64_t i = more ? own.hints - 1 : 0; i < own.hints; ++i)
      print(fmt::format("Hint {} of {}: {}\n", i + 1, count, hints[static_cast<size_t>(i)]));
    if (!more) print("These are all hints.\n");
    progress_.save();
    return exit_done;
  }

  int show(const Exercise& exercise) const {
    if (!progress_.of(exercise.name).passed) {
      print(fmt::format("{} shows the library's own function once yours passes\nnot yet\n",
                        command("show", exercise)));
      return exit_failed;
    }
    for (const LibraryFunction& own :
         library_functions(workshop_.sources, exercise.file("background.md")))
      print(fmt::format("{}:{}-{}\n\n{}\n", own.file, own.first, own.last, own.text));
    return exit_done;
  }

  GradeRequest request(const std::string& exercise = "", const std::string& file = "") const {
    std::random_device random;
    return {exercise, file, static_cast<uint64_t>(arguments_.seed.value_or(random() % 1'000'000)),
            arguments_.seconds};
  }

  // Returns whether the answer passes, and says so.
  bool check_answer(const Exercise& exercise) {
    const GradeRequest how = request(exercise.name, answer(exercise));
    GradedAnswer graded;
    if (exists(how.file))
      graded = grade_answer(workshop_, how);
    else
      graded.problem =
          fmt::format("{}: no such file; begin with {}", how.file, command("start", exercise));
    progress_.current = exercise.name;
    if (graded.passed()) progress_.change(exercise.name).passed = true;
    progress_.save();
    if (arguments_.json)
      print(json_of(how, graded).text(2) + "\n");
    else
      print_answer(exercise, how, graded);
    flush_output();
    return graded.passed();
  }

  static Json json_of(const GradeRequest& how, const GradedAnswer& graded) {
    Json json = Json::object();
    json.set("exercise", how.exercise).set("file", how.file);
    json.set("seed", static_cast<int64_t>(how.seed));
    graded.add_to(json);
    return json;
  }

  static void print_answer(const Exercise& exercise, const GradeRequest& how,
                           const GradedAnswer& graded) {
    if (!graded.messages.empty()) print_escaped(escaped(graded.messages) + "\n");
    if (!graded.printed.empty())
      print_escaped(
          fmt::format("The answer printed:\n{}\n", escaped(shortened(graded.printed, 2000))));
    print(fmt::format("{}, seed {}\n", exercise.title, how.seed));
    if (!graded.passed()) {
      print_escaped(escaped(graded.problem) + "\n");
      if (!graded.sentence.empty()) print_escaped(escaped(graded.sentence) + "\n");
      print(fmt::format("\n{} helps\n", command("hint", exercise)));
      print_escaped(styled(Style::bad, "not yet", STDOUT_FILENO) + "\n");
      return;
    }
    if (!graded.losses.empty())
      print(
          fmt::format("A small decoder trained with it, {} steps: loss {:.3f} → {:.3f}.\n"
                      "With the library's own function the losses are the same to {:.0e}.\n",
                      graded.losses.size(), graded.losses.front(), graded.losses.back(),
                      std::max(graded.difference, 1e-16)));
    print(fmt::format("\n{}\n{} shows the library's own\n", exercise.shown("background.md"),
                      command("show", exercise)));
    print_escaped(styled(Style::good, "passed", STDOUT_FILENO) + "\n");
  }

  int check_once(const Exercise& exercise) {
    workshop_.check_built();
    return check_answer(exercise) ? exit_done : exit_failed;
  }

  int watch(const Exercise& exercise) {
    workshop_.check_built();
    const InterruptGuard guard;
    const std::string file = answer(exercise);
    const auto contents = [&] { return exists(file) ? read_file(file, "answer", 1 << 20) : ""; };
    while (true) {
      const std::string before = contents();
      if (check_answer(exercise)) return exit_done;
      logging::info("waiting until {} is saved; Ctrl-C ends it", file);
      while (!interrupted() && contents() == before) ::usleep(200'000);
      if (interrupted()) return exit_failed;
    }
  }

  // The exercises that --answers grades.
  std::vector<std::string> asked_for(const ClassPlan& plan) const {
    std::vector<std::string> names = arguments_.exercises;
    if (!arguments_.exercise.empty()) names.push_back(arguments_.exercise);
    for (const std::string& name : names) exercise_named(name);
    if (names.empty()) names = plan.exercises(arguments_.week);
    if (names.empty())
      for (const Exercise* exercise : listed()) names.push_back(exercise->name);
    return names;
  }

  int check_answers() const {
    check_input(arguments_.action == "check", "--answers belongs to heed course check");
    check_input(arguments_.csv + arguments_.gradescope + arguments_.json <= 1,
                "--csv, --gradescope and --json: choose one");
    check_input(arguments_.week == 0 || !arguments_.plan.empty(), "--week belongs to --plan");
    const ClassPlan plan =
        arguments_.plan.empty() ? ClassPlan() : ClassPlan::read(arguments_.plan, names());
    const ClassRequest asked{arguments_.answers, arguments_.gradescope, plan, asked_for(plan),
                             request()};
    workshop_.check_built();
    const std::vector<Person> persons = grade_class(workshop_, exercises_, asked);
    if (arguments_.gradescope) {
      print(gradescope_json(persons.front(), asked).text(2) + "\n");
      return exit_done;  // the scores say what passes
    }
    if (arguments_.json) {
      print(class_json(persons, asked).text(2) + "\n");
    } else if (arguments_.csv) {
      print(points_table(persons, asked).csv());
    } else {
      Table summary = persons_table(persons, asked);
      summary.notes = {
          fmt::format("exercises: {}, seed {}", asked.exercises.size(), asked.how.seed)};
      print(answers_table(persons).text(4) + "\n" + summary.text());
    }
    const bool passed = std::ranges::all_of(persons, [](const Person& person) {
      return person.passed() == static_cast<int64_t>(person.answers.size());
    });
    return passed ? exit_done : exit_failed;
  }

  const CourseArguments& arguments_;
  const Workshop workshop_;
  const std::vector<Exercise> exercises_;
  const std::string folder_;
  Progress progress_;
};

int CourseArguments::run() const {
  return action == "museum" ? course_museum(exercise, json) : CourseSession(*this).run();
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
