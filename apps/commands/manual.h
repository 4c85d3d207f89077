// The manual page and the completion script, from the same tables as --help.
#pragma once

#include <string>

#include "apps/commands/command.h"

namespace heed {

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
