// The command line of heed.
#pragma once

namespace heed {

// Runs the command line and returns the exit code: 0 success; 1 failure; 2 invalid command, config,
// data or checkpoint; 130 interrupted and saved. Errors are one line on stderr.
int run_program(int argc, char** argv);

}  // namespace heed
