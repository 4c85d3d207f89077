// Runs the built program, as a user would, and keeps what it said.
#pragma once

#include <string>
#include <vector>

#include "temporary.h"

struct ProgramOutput {
  int code = -1;  // exit code; 128 + the signal that ended it
  std::string out, err;
};

// A started program.
class Subprocess {
 public:
  // In the folder `folder`, with `input` on its standard input.
  Subprocess(const std::vector<std::string>& arguments, const std::string& folder,
             const std::string& input = "", const char* program = nullptr);
  void signal(int number) const;
  bool running();        // still
  ProgramOutput wait();  // for its end

 private:
  TemporaryFolder files_;
  int process_ = -1, status_ = 0;
  bool ended_ = false;
};

// Runs bash in the folder `folder`. $HEED is the program.
ProgramOutput shell_in(const std::string& folder, const std::string& script);

inline ProgramOutput heed_in(const std::string& folder, const std::vector<std::string>& arguments,
                             const std::string& input = "") {
  return Subprocess(arguments, folder, input).wait();
}

// A config of a model so small that a run takes a moment; `more` is appended, and begins in [data].
std::string tiny_config(const std::string& more = "");

// CHECK that the program refused: this exit code, one line that has all the parts, nothing else.
void check_rejected(const ProgramOutput& output, int code, const std::vector<std::string>& parts);
