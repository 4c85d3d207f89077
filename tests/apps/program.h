// Runs the built program, as a user would, and keeps what it said.
#pragma once

#include <string>
#include <vector>

#include "temporary.h"

struct Said {
  int code = -1;  // exit code; 128 + the signal that ended it
  std::string out, err;
};

// A started program.
class Started {
 public:
  // In the folder `where`, with `input` on its standard input.
  Started(const std::vector<std::string>& arguments, const std::string& where,
          const std::string& input = "", const char* program = nullptr);
  void signal(int number) const;
  bool running();  // still
  Said wait();     // for its end

 private:
  TemporaryFolder files_;
  int process_ = -1, status_ = 0;
  bool ended_ = false;
};

// Runs bash in the folder `where`. $HEED is the program.
Said shell_in(const std::string& where, const std::string& script);

inline Said heed_in(const std::string& where, const std::vector<std::string>& arguments,
                    const std::string& input = "") {
  return Started(arguments, where, input).wait();
}

// A config of a model so small that a run takes a moment; `more` is appended, and begins in [data].
std::string tiny_config(const std::string& more = "");

// CHECK that the program refused: this exit code, one line that has all the parts, nothing else.
void check_refused(const Said& said, int code, const std::vector<std::string>& parts);
