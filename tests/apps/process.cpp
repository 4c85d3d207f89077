// Child processes: what a program gets, and how it ends.
#include "apps/support/process.h"

#include "temporary.h"

using namespace heed;

TEST_CASE("process: a program gets its descriptors, folder and environment, and null otherwise") {
  const TemporaryFolder folder;
  ProcessPipe three = make_pipe("pipe"), four = make_pipe("pipe");
  // The ends of the pipes may have the numbers 3 and 4 themselves.
  Process shell({.program = "/bin/sh",
                 .arguments = {"sh", "-c", "cat; echo out; pwd >&3; echo \"$NAME\" >&4; exit 7"},
                 .descriptors = {{three.writing, 3}, {four.writing, 4}},
                 .folder = folder.path,
                 .environment = std::vector<std::string>{"PATH=/usr/bin:/bin", "NAME=value"}},
                "cannot start sh");
  const ProcessEnd end = shell.wait();
  CHECK(end.code == 7);
  CHECK(end.shell_code() == 7);
  const auto text = [](int file) {
    char bytes[256];
    return std::string(bytes, static_cast<size_t>(::read(file, bytes, sizeof bytes)));
  };
  CHECK(text(three.reading).ends_with(name_of(folder.path) + "\n"));
  CHECK(text(four.reading) == "value\n");
}

TEST_CASE("process: a signal ends the group, a missing program exits with 127") {
  Process sleep({.program = "sleep", .arguments = {"sleep", "1000"}}, "cannot start sleep");
  CHECK_FALSE(sleep.ended());
  sleep.signal_group(SIGTERM);
  const ProcessEnd end = sleep.wait();
  CHECK(end.signal == SIGTERM);
  CHECK(end.shell_code() == 128 + SIGTERM);

  ProcessPipe errors = make_pipe("pipe");
  Process none({.program = "no-such-folder/program",
                .arguments = {"none"},
                .descriptors = {{errors.writing, STDERR_FILENO}}},
               "cannot start");
  CHECK(none.wait().code == 127);
  char said[256];
  const auto count = static_cast<size_t>(::read(errors.reading, said, sizeof said));
  CHECK(std::string(said, count) == "no-such-folder/program: No such file or directory\n");
}
