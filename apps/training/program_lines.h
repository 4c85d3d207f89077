// A program that is started to read the lines that it writes to its standard output.
//
// It ends with its object and, on Linux, with the thread that started it, also if this process is
// killed. First its pipes are closed and it gets SIGTERM; half a second later, SIGKILL. Both are
// for its whole process group. How it ends then does not matter.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "apps/support/process.h"
#include "data/example_program.h"

namespace heed {

class ProgramLines final : public LineSource {
 public:
  // Starts the first of the words, without a shell, in a folder. Its standard input is empty. It
  // may write nothing for so long while next() waits. Throws Error if the system refuses.
  ProgramLines(const std::vector<std::string>& words, const std::string& folder,
               std::chrono::seconds timeout);
  ~ProgramLines() override;
  bool next(std::string& line) override;
  void stop() override { waker_.writing.close(); }
  std::string problem() override;
  std::vector<std::string> take_errors() override { return std::exchange(errors_, {}); }

  static constexpr size_t max_line_bytes = 1 << 24;  // of a line
  static constexpr int max_error_lines = 100;        // of standard error

 private:
  bool wait();  // for output; returns false if there will be none
  void read_errors();
  void add_error(std::string line);
  std::optional<ProcessEnd> end_within(std::chrono::milliseconds time);

  ProcessPipe output_, error_output_, waker_;
  std::optional<Process> process_;
  std::optional<ProcessEnd> end_;
  const std::chrono::seconds timeout_;
  std::string text_;                 // read and not yet returned, from begin_
  size_t begin_ = 0, searched_ = 0;  // searched_: there is no end of a line in [begin_, searched_)
  std::string why_;                  // next() returned false, if it was not the end of the output
  std::string error_text_, last_error_;  // an unfinished line of standard error; the last one
  std::vector<std::string> errors_;
  int error_lines_ = 0;
};

}  // namespace heed
