#include "data/utf8.h"

#include <fmt/core.h>
#include <utf8.h>

#include <iterator>

namespace heed {

size_t find_invalid_utf8(std::string_view text) {
  const auto found = utf8::find_invalid(text.begin(), text.end());
  return found == text.end() ? text.npos : static_cast<size_t>(found - text.begin());
}

std::string printable(std::string_view text) {
  std::string shown;
  utf8::replace_invalid(text.begin(), text.end(), std::back_inserter(shown));
  return shown;
}

std::string in_quotes(std::string_view text) {
  constexpr size_t most = 40;
  const std::string valid = printable(text.substr(0, most + 4));
  std::string shown = "\"";
  for (size_t at = 0; at < valid.size() && at < most;) {
    const size_t length = character_length(valid[at]);
    const auto byte = static_cast<unsigned char>(valid[at]);
    if (byte < 0x20 || byte == 0x7F)
      shown += fmt::format("\\x{:02x}", byte);
    else
      shown += valid.substr(at, length);
    at += length;
  }
  return shown + (text.size() > most ? "…\"" : "\"");
}

}  // namespace heed
