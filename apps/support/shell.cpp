#include "apps/support/shell.h"

#include <algorithm>
#include <cctype>

#include "apps/support/machine.h"

namespace heed {

std::string shell_word(std::string_view text) {
  constexpr std::string_view safe = "_./:,@%+=-";
  const auto is_safe = [&](char c) {
    return (static_cast<unsigned char>(c) < 0x80 && std::isalnum(c)) || safe.find(c) != safe.npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_safe)) return std::string(text);
  std::string word = "'";
  for (const char c : text)
    if (c == '\'')
      word += "'\\''";  // ends the quotation, adds a quote, and begins the next
    else
      word += c;
  return word + "'";
}

std::string heed_command(const std::vector<std::string>& arguments) {
  const std::vector<std::string> typed = command_line();
  std::string command = typed.empty() ? "heed" : shell_word(typed[0]);
  for (const std::string& argument : arguments) command += " " + shell_word(argument);
  return command;
}

}  // namespace heed
