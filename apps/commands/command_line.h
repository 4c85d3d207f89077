// What can be said to heed: its verbs and their options.
#pragma once

#include <string>
#include <vector>

namespace heed {

// In the order in which the help names them.
std::vector<std::string> verbs();

// Calls the function (apps/commands/commands.h) of the verb that the command line names, and
// returns its exit code; without a verb, explains. Throws InputError where the options are wrong,
// and what the function throws.
int run_verb(int argc, char** argv);

}  // namespace heed
