// The command line: which command it names, and with which options.
#pragma once

#include "apps/commands/command.h"

namespace heed {

// Runs the command that the command line names and returns its exit code. Prints the help if there
// is no command. Throws InputError for unknown commands and wrong options, and what the command
// throws.
int run_command_line(Commands commands, int argc, char** argv);

}  // namespace heed
