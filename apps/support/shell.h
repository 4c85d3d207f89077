// Commands that the user can paste into a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

// Returns a word that a POSIX shell reads as this text, in single quotes unless it needs none.
// Control characters, and all that escaped() (core/text.h) would change, are written as octal
// numbers.
std::string shell_word(std::string_view text);

// Returns a command of heed. It starts with the name by which the user called this program:
// "./heed train --resume --run runs/reverse".
std::string heed_command(const std::vector<std::string>& arguments);

}  // namespace heed
