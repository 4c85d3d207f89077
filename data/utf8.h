// UTF-8: where a text breaks its rules, how long a character is, and how to show any bytes to a
// person.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed {

// Bytes of the character that starts with this byte, in valid UTF-8.
inline size_t character_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

// Offset of the first byte that does not belong to a whole UTF-8 character; npos if all is valid.
size_t find_invalid_utf8(std::string_view text);

// The same text with U+FFFD in place of what is not UTF-8: what a model of bytes writes may be
// shown.
std::string printable(std::string_view text);

// For error messages: in double quotes, on one line, cut after about 40 bytes, nothing a terminal
// obeys.
std::string in_quotes(std::string_view text);

}  // namespace heed
