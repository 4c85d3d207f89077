// UTF-8: validation and length of a character. core/text.h makes text safe to show.
#pragma once

#include <cstddef>
#include <string_view>

namespace heed {

// Returns the number of bytes of the character that starts with this byte, in valid UTF-8.
inline size_t character_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

// Returns the number of characters of valid UTF-8: its width in a terminal, unless some combine.
size_t character_count(std::string_view text);

// Returns the offset of the first byte that is not part of a complete UTF-8 character, or npos.
size_t find_invalid_utf8(std::string_view text);

}  // namespace heed
