// The program that grades one learner's answer, or trains with it.
//
//   PROGRAM grade EXERCISE SEED
//   PROGRAM train EXERCISE
//   PROGRAM mistakes EXERCISE    for tests: grades the known wrong answers and prints what is found
//
// `heed course` starts it (course/tutor/answer.cpp), and reads its verdict from descriptor 3: a
// token that `heed course` gave it on descriptor 4, and lines. What the answer prints, or how the
// process ends, says nothing: an answer may print "passed" and call exit(0).
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <unistd.h>

#include "core/parallel.h"
#include "course/grader/grader.h"
#include "course/grader/training.h"

namespace heed::course {
namespace {

constexpr int verdict_file = 3, token_file = 4;
char token[33];

// Takes the token before any code of the answer runs: this is in a shared library, whose
// constructors come first.
[[gnu::constructor]] void take_token() {
  size_t count = 0;
  for (ssize_t got; count + 1 < sizeof token; count += static_cast<size_t>(got)) {
    got = ::read(token_file, token + count, sizeof token - 1 - count);
    if (got <= 0) break;
  }
  ::close(token_file);
}

std::string in_one_line(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

// Ends the process: what the answer still does, such as in destructors, does not count.
[[noreturn]] void say(const std::string& verdict) {
  const std::string message = fmt::format("{}\n{}\n", token, verdict);
  for (size_t written = 0; written < message.size();) {
    const ssize_t count = ::write(verdict_file, message.data() + written, message.size() - written);
    if (count <= 0) break;
    written += static_cast<size_t>(count);
  }
  ::_exit(0);
}

template <class Entry>
const Entry* find(const char* exercise) {
  const Entry* entry = Entry::first;
  while (entry && std::string_view(entry->name) != exercise) entry = entry->next;
  return entry;
}

[[noreturn]] void grade(const char* exercise, uint64_t seed) {
  const Exercise* const found = find<Exercise>(exercise);
  if (!found) say("unknown");
  if (!found->defined()) say("undefined");
  const std::optional<Finding> finding = found->grade(seed);
  if (finding)
    say(fmt::format("wrong\n{}\n{}", in_one_line(finding->problem),
                    in_one_line(finding->sentence)));
  say(find<Training>(exercise) ? "passed\ntrains" : "passed");
}

// Wrong answers must not call the function that they stand for, or this prints something else with
// another one.
int print_mistakes(const char* exercise) {
  const Exercise* const found = find<Exercise>(exercise);
  if (!found) return 2;
  for (const uint64_t seed : {1, 2, 3}) {
    const std::vector<Grader> mistakes = found->graded_mistakes(seed);
    for (size_t i = 0; i < mistakes.size(); ++i)
      fmt::print("{}\n  {}\n", found->mistakes()[i].sentence,
                 mistakes[i].passed() ? "passed" : mistakes[i].finding()->problem);
  }
  return 0;
}

[[noreturn]] void train_with(const char* exercise) {
  const Training* const training = find<Training>(exercise);
  if (!training) say("unknown");
  try {
    std::string losses = "losses";
    for (const double loss : train(*training->positions)) losses += fmt::format("\n{}", loss);
    say(losses);
  } catch (const std::exception& error) {
    say(fmt::format("wrong\nthrows '{}'", in_one_line(error.what())));
  }
}

}  // namespace
}  // namespace heed::course

extern "C" int heed_course_main(int argc, char** argv) {
  using namespace heed::course;
  heed::set_thread_count(1);
  const std::string_view action = argc > 2 ? argv[1] : "";
  if (action == "grade" && argc == 4) grade(argv[2], std::strtoull(argv[3], nullptr, 10));
  if (action == "train" && argc == 3) train_with(argv[2]);
  if (action == "mistakes" && argc == 3) return print_mistakes(argv[2]);
  return 2;
}
