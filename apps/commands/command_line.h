// The command line: which command it names, and with which options.
#pragma once

#include "apps/commands/room.h"

namespace heed {

// Runs the command that the command line names and returns its exit code. Prints the help if there
// is no command. Throws InputError for unknown commands, commands that the build left out and wrong
// options, and what the command throws.
int run_command_line(const ProgramCommands& program, int argc, char** argv);

}  // namespace heed
