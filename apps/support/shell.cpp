#include "apps/support/shell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "apps/support/machine.h"
#include "core/text.h"

namespace heed {

std::string shell_word(std::string_view text) {
  constexpr std::string_view safe = "_./:,@%+=-";
  const auto is_safe = [&](char c) {
    return (static_cast<unsigned char>(c) < 0x80 && std::isalnum(c)) || safe.find(c) != safe.npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_safe)) return std::string(text);
  std::string end;  // $(…) drops line feeds at its end
  for (; text.ends_with('\n'); text.remove_suffix(1)) end += '\n';
  if (escaped(text) != text || text.find_first_of("\n\t") != text.npos) {
    std::string octal;
    for (const char c : text)
      octal += is_safe(c) && c != '%' && c != '-'
                   ? std::string(1, c)
                   : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    return "\"$(printf '" + octal + "')\"" + (end.empty() ? "" : "'" + end + "'");
  }
  std::string word = "'";
  for (const char c : std::string(text) + end)
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
