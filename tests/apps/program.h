// Runs the built program as a subprocess and captures its output.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/support/process.h"
#include "temporary.h"

struct ProgramOutput {
  int code = -1;  // exit code; 128 + the signal that ended it
  std::string out, err;
};

// A program that runs in the background.
class Subprocess {
 public:
  // Starts `program` (default: heed) in `folder`. It reads `input` from standard input.
  Subprocess(const std::vector<std::string>& arguments, const std::string& folder,
             const std::string& input = "", const char* program = nullptr);
  void signal(int number) const;
  bool running();
  ProgramOutput wait();  // waits until it exits

 private:
  TemporaryFolder files_;
  std::optional<heed::Process> process_;
  std::optional<heed::ProcessEnd> end_;
};

// Runs a bash script in `folder`. $HEED is the path of the program.
ProgramOutput shell_in(const std::string& folder, const std::string& script);

// Runs heed in `folder` and waits until it exits.
inline ProgramOutput heed_in(const std::string& folder, const std::vector<std::string>& arguments,
                             const std::string& input = "") {
  return Subprocess(arguments, folder, input).wait();
}

// Returns whether heed has a command: a build may leave out rooms (apps/commands/room.h).
bool has_command(const std::string& name);

// Returns a config that trains in about a second. `more` is appended to its last section, [data].
std::string tiny_config(const std::string& more = "");

// Checks that the program exited with `code` and printed only one error line, with all `parts`.
void check_rejected(const ProgramOutput& output, int code, const std::vector<std::string>& parts);
