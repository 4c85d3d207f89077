// Runs a program that is not trusted to end, or to behave: in a process group of its own, with
// limits of time, file size and output, without input, and with a pipe for a verdict.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

struct ProcessLimits {
  double seconds = 10;       // of processor time; four times as many may pass
  int64_t memory = 0;        // bytes of address space; 0: no limit
  int64_t file_bytes = 0;    // of a file that it writes
  int64_t output = 1 << 16;  // bytes that it prints
};

struct EndedProcess {
  enum class End { exited, killed, out_of_time, too_much_output };
  End end = End::exited;
  int code = 0;         // exit code, or signal
  std::string output;   // standard output and standard error
  std::string verdict;  // what it wrote to descriptor 3
};

// `arguments` begin with the path of the program. `token` can be read from descriptor 4. The
// environment has PATH, LC_ALL=C.UTF-8 and `environment`. Throws Error if it cannot be started.
EndedProcess run_limited(const std::vector<std::string>& arguments, const std::string& folder,
                         const std::vector<std::string>& environment, const ProcessLimits& limits,
                         const std::string& token = "");

}  // namespace heed
