#pragma once

#include <string>

namespace heed {

// Returns a text as a cell of CSV (RFC 4180): in quotes if it needs them.
inline std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace heed
