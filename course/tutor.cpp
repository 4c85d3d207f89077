// heed-tutor: grades one answer and prints what is found. course/tutor/course.sh calls it, and
// prints the rest of what `heed course check` shows. It is built in less time than heed.
//
//   heed-tutor EXERCISE FILE SEED SECONDS [--json]
//
// Exit codes: 0 passed, 1 not yet, 2 not graded.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "apps/support/files.h"
#include "apps/support/machine.h"
#include "apps/support/terminal.h"
#include "core/text.h"
#include "course/tutor/answer.h"

namespace heed {
namespace {

void print_line(const std::string& text) {
  if (!text.empty()) print_escaped(escaped(text) + "\n");
}

void print_answer(const GradedAnswer& graded) {
  print_line(graded.messages);
  if (!graded.printed.empty())
    print_line("The answer printed:\n" + shortened(graded.printed, 2000));
  if (!graded.passed()) {
    print_line(graded.problem);
    print_line(graded.sentence);
  } else if (!graded.losses.empty()) {
    print(
        fmt::format("A small decoder trained with it, {} steps: loss {:.3f} → {:.3f}.\n"
                    "With the library's own function the losses are the same to {:.0e}.\n",
                    graded.losses.size(), graded.losses.front(), graded.losses.back(),
                    std::max(graded.difference, 1e-16)));
  }
}

int run(const GradeRequest& how, bool json) {
  const Workshop workshop = Workshop::find();
  workshop.check_built();
  GradedAnswer graded;
  if (exists(how.file))
    graded = grade_answer(workshop, how);
  else
    graded.problem = how.file + ": no such file";
  if (json) {
    Json object = Json::object();
    object.set("exercise", how.exercise).set("file", how.file);
    object.set("seed", static_cast<int64_t>(how.seed));
    graded.add_to(object);
    print(object.text(2) + "\n");
  } else {
    print_answer(graded);
  }
  flush_output();
  return graded.passed() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace heed

int main(int argc, char** argv) {
  constexpr int not_graded = 2;
  if (argc < 5) {
    fmt::print(stderr, "heed-tutor EXERCISE FILE SEED SECONDS [--json]\n");
    return not_graded;
  }
  heed::keep_command_line(argc, argv);
  try {
    return heed::run(
        {argv[1], argv[2], std::strtoull(argv[3], nullptr, 10), std::strtod(argv[4], nullptr)},
        argc > 5 && std::string_view(argv[5]) == "--json");
  } catch (const heed::OutputClosed&) {
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
  }
  return not_graded;
}
