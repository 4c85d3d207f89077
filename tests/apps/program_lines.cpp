// apps/training/program_lines.h: programs that are read line by line.
#include "apps/training/program_lines.h"

#include <csignal>
#include <cstdio>
#include <sys/wait.h>
#include <thread>

#include "temporary.h"

using namespace heed;

namespace program_lines_tests {

namespace {

ProgramLines shell_lines(const std::string& script, int timeout = 60,
                         const std::string& folder = "") {
  return {{"sh", "-c", script}, folder, std::chrono::seconds(timeout)};
}

// Reads a program to the end of its lines, which it returns joined by "|", and then says why.
std::string all_of(ProgramLines lines) {
  std::string text, line;
  while (lines.next(line)) text += line + "|";
  return text + lines.problem();
}

// Whether a process exists that is not a zombie.
bool is_alive(pid_t process) {
  const std::string path = "/proc/" + std::to_string(process) + "/stat";
  return exists(path) && read_file(path, "state").find(") Z ") == std::string::npos;
}

}  // namespace

TEST_CASE("program: its lines are read, and why there are no more is said") {
  std::fflush(nullptr);  // under the sanitizer for threads, _exit of a forked process writes it too
  const TemporaryFolder folder;
  write_file(folder / "lines.txt", "one\ntwo\r\n\n");
  CHECK(all_of(shell_lines("cat lines.txt", 60, folder.path)) ==
        "one|two||the program ended with exit code 0");
  CHECK(all_of(shell_lines("echo a; echo first >&2; printf 'last\\n\\n' >&2; printf b; exit 3")) ==
        "a|the program ended with exit code 3 in the middle of a line: last");
  CHECK(all_of(shell_lines("echo a; kill -9 $$")) ==
        "a|the program was ended by signal 9 (Killed)");
  CHECK(all_of(shell_lines("echo a; exec >&-; sleep 100")) ==
        "a|the program closed its standard output");
  CHECK(all_of(shell_lines("echo a; printf slow >&2; sleep 100", 1)) ==
        "a|the program wrote nothing for 1 s: slow");
  CHECK(all_of(shell_lines("head -c 20000000 /dev/zero; sleep 100")) ==
        "the program wrote a line of more than 16 MiB");
  CHECK(all_of({{"no-such-program", "x"}, "", std::chrono::seconds(60)}) ==
        "the program ended with exit code 127: no-such-program: No such file or directory");
  CHECK(all_of({{"sh"}, folder / "none", std::chrono::seconds(60)}) ==
        "the program ended with exit code 127: sh: No such file or directory");
}

TEST_CASE("program: its standard input is empty, and no shell reads its words") {
  CHECK(all_of({{"printf", "%s\n", "$HOME *"}, "", std::chrono::seconds(60)})
            .starts_with("$HOME *|"));
  CHECK(all_of({{"cat"}, "", std::chrono::seconds(60)}) == "the program ended with exit code 0");
}

TEST_CASE("program: lines of standard error are handed on, the first hundred of them") {
  ProgramLines lines = shell_lines("echo one >&2; echo x; seq 1000 >&2; echo y");
  std::string line;
  REQUIRE(lines.next(line));
  REQUIRE(lines.next(line));
  CHECK_FALSE(lines.next(line));
  CHECK(lines.problem() == "the program ended with exit code 0: 1000");
  const std::vector<std::string> errors = lines.take_errors();
  CHECK(errors.size() == ProgramLines::max_error_lines + 1);
  CHECK(errors[0] == "one");
  CHECK(errors[99] == "99");
  CHECK(lines.take_errors().empty());
}

TEST_CASE("program: it ends with its object, with its children, also if it ignores signals") {
  const TemporaryFolder folder;
  const auto process_of = [&] {
    return std::stoi(read_file(folder / "process", "number of a process"));
  };
  std::string line;
  for (const char* script :
       {"echo $$ >process; yes", "trap '' TERM PIPE; echo $$ >process; echo a; sleep 1000",
        "sleep 1000 & echo $! >process; echo a; wait"}) {
    {
      ProgramLines lines = shell_lines(script, 60, folder.path);
      REQUIRE(lines.next(line));
      CHECK(is_alive(process_of()));
    }
    for (int waited = 0; is_alive(process_of()) && waited < 100; ++waited)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK_FALSE(is_alive(process_of()));
  }
}

TEST_CASE("program: stop() wakes a thread that waits for a line") {
  ProgramLines lines = shell_lines("sleep 1000");
  std::thread waiting([&] {
    std::string line;
    CHECK_FALSE(lines.next(line));
  });
  lines.stop();
  waiting.join();
}

}  // namespace program_lines_tests
