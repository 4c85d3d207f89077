// Runs the built program as a subprocess and captures its output.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/support/json.h"
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

// Requires that a program exited with 0. Returns its output.
ProgramOutput succeeded(ProgramOutput output);

// Runs a command that must succeed. Returns what it prints.
std::string heed_ok(const std::string& folder, const std::vector<std::string>& arguments,
                    const std::string& input = "");

// A folder in which heed runs; names of files and runs are in it.
struct Workspace : TemporaryFolder {
  ProgramOutput heed(const std::vector<std::string>& arguments,
                     const std::string& input = "") const {
    return heed_in(path, arguments, input);
  }
  std::string ok(const std::vector<std::string>& arguments, const std::string& input = "") const {
    return heed_ok(path, arguments, input);
  }
  // Writes NAME.toml and trains the run NAME with it.
  void train(const std::string& name, const std::string& config) const;
  void copy_from(const Workspace& other) const;

  std::string read(const std::string& name) const;
  ::heed::Json json(const std::string& name) const;
  std::string digest(const std::string& name) const;  // SHA-256
  bool has(const std::string& name) const;
  // Replaces the first `from` in a file, which must have it.
  void replace(const std::string& name, const std::string& from, const std::string& to) const;
};

// Returns whether heed has a command: a build may leave out rooms (apps/commands/room.h).
bool has_command(const std::string& name);

// Returns a config that trains in about a second. `more` is appended to its last section, [data].
std::string tiny_config(const std::string& more = "");

// Checks that the program exited with `code` and printed only one error line, with all `parts`.
void check_rejected(const ProgramOutput& output, int code, const std::vector<std::string>& parts);
