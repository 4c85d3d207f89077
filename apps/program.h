// The command line of heed.
#pragma once

namespace heed {

// Does what the command line says and returns the exit code: 0 done; 1 the run failed; 2 the user's
// command, config, data or checkpoint; 130 interrupted and saved. Errors go to stderr, in one line.
int run_program(int argc, char** argv);

}  // namespace heed
