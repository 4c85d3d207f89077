// UTF-8, text of unknown origin made safe to show, and what an error is about.
//
// A token, a name or a path may hold the escape sequences of a terminal, characters that reverse
// the direction of writing, or bytes that are not UTF-8. Whatever goes to a terminal, to a log or
// into an error passes through one of these functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/check.h"

namespace heed::inline HEED_REAL {

// Returns the number of bytes of the UTF-8 character that `text` starts with, 0 if there is none.
size_t utf8_length(std::string_view text);
// The same for valid UTF-8, of which this is the first byte.
inline size_t character_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}
// Returns the number of characters of valid UTF-8: its width in a terminal, unless some combine.
size_t character_count(std::string_view text);
// Returns the offset of the first byte that is not part of a complete UTF-8 character, or npos.
size_t find_invalid_utf8(std::string_view text);

// Returns the text with control characters (C0 except newline and tab, DEL, C1), bidirectional
// controls (U+202A … U+202E, U+2066 … U+2069) and bytes that are not UTF-8 as \x1b or \u202e.
// Backslashes stay, so escaped text stays as it is.
std::string escaped(std::string_view text);

// The same for messages: on one line, with every other character that cannot be seen as \u00a0 too,
// cut after `most` bytes, with an ellipsis if it was longer.
std::string shortened(std::string_view text, size_t most = 60);

// The same in quotation marks, for a value or a name in a message.
std::string in_quotes(std::string_view text, char mark = '"', size_t most = 60);

// Returns the text as a string of JSON, which is one of TOML, too: in quotation marks, with quotes,
// backslashes, control characters and DEL escaped.
std::string string_literal(std::string_view text);

// Calls f. If it throws an InputError, adds "context: " before the text and `end` after it.
template <class F>
auto in_context(std::string_view context, F&& f, std::string_view end = "") {
  try {
    return f();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}{}", context, error.what(), end));
  }
}

}  // namespace heed::inline HEED_REAL
