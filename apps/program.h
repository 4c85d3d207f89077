// The command line of heed.
#pragma once

#include "apps/commands/room.h"

namespace heed {

// Runs the command line of a program that has these commands. Errors are one line on stderr.
// Returns the exit code:
//   0    success
//   1    failure
//   2    invalid command, config, data or checkpoint
//   130  interrupted and saved
int run_program(const ProgramCommands& commands, int argc, char** argv);

}  // namespace heed
