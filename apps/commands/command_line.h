// The command line: which command it names, and with which options. Its texts (--help, the manual
// page, the completion script) come from the tables of the commands.
#pragma once

#include <string>

#include "apps/commands/room.h"

namespace heed {

// Runs the command that the command line names and returns its exit code. Prints the help if there
// is no command. Throws InputError for unknown commands, commands that the build left out and wrong
// options, and what the command throws.
int run_command_line(const ProgramCommands& program, int argc, char** argv);

// An option of the program without a command: it prints a text.
struct Page {
  const char *name, *help;
  std::string (*text)(Commands commands);
};

// Returns a page for man, in the macros of man(7).
std::string manual_page(Commands commands);
// Returns a script for bash: it completes commands, options, their words, keys of a config and
// names of files.
std::string bash_completion(Commands commands);
// Returns program_version and what computes.
std::string version_page(Commands);

inline constexpr Page pages[] = {
    {"--version", "Print version, processor, BLAS and precisions", version_page},
    {"--completion", "Print the completion script for bash: source <(heed --completion)",
     bash_completion},
    {"--man", "Print the manual page: heed --man | man -l -", manual_page}};

}  // namespace heed
