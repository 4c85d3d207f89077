#include "core/text.h"

#include <fmt/format.h>
#include <utf8.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

namespace heed::inline HEED_REAL {

// Returns whether a character shows nothing, or a blank that is not a space: Unicode's White_Space
// and Default_Ignorable_Code_Point (PropList.txt, DerivedCoreProperties.txt), and U+2800.
static bool is_invisible(uint32_t code) {
  constexpr std::pair<uint32_t, uint32_t> ranges[] = {
      {0x80, 0xA0},      {0xAD, 0xAD},     {0x34F, 0x34F},   {0x61C, 0x61C},     {0x115F, 0x1160},
      {0x1680, 0x1680},  {0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x2000, 0x200F},   {0x2028, 0x202F},
      {0x205F, 0x206F},  {0x2800, 0x2800}, {0x3000, 0x3000}, {0x3164, 0x3164},   {0xFE00, 0xFE0F},
      {0xFEFF, 0xFEFF},  {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFF8}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
      {0xE0000, 0xE0FFF}};
  return std::any_of(std::begin(ranges), std::end(ranges), [code](const auto& range) {
    return code >= range.first && code <= range.second;
  });
}

// Appends the character that `text` starts with, and returns its number of bytes. With `all` it
// escapes invisible characters that change nothing else on a terminal, too.
static size_t append_escaped(std::string& shown, std::string_view text, bool all) {
  const size_t length = utf8_length(text);
  const uint32_t code =
      length == 0 ? static_cast<uint8_t>(text[0]) : utf8::unchecked::peek_next(text.begin());
  if (length == 0 || code < 0x20 || code == 0x7F)
    shown += fmt::format("\\x{:02x}", code);
  else if ((code >= 0x80 && code < 0xA0) || (code >= 0x202A && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069) || (all && is_invisible(code)))
    shown += code < 0x10000 ? fmt::format("\\u{:04x}", code) : fmt::format("\\U{:08x}", code);
  else
    shown += text.substr(0, length);
  return length == 0 ? 1 : length;
}

size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto first = static_cast<uint8_t>(text[0]);
  const size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  const std::string_view character = text.substr(0, length);
  return utf8::is_valid(character.begin(), character.end()) ? length : 0;
}

size_t character_count(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;  // not a continuation byte
  }));
}

size_t find_invalid_utf8(std::string_view text) {
  constexpr uint64_t high_bits = 0x8080'8080'8080'8080;
  size_t ascii = 0;  // bytes before the first eight with another character
  for (uint64_t word = 0; ascii + 8 <= text.size(); ascii += 8) {
    std::memcpy(&word, text.data() + ascii, 8);
    if ((word & high_bits) != 0) break;
  }
  const auto found = utf8::find_invalid(text.begin() + static_cast<ptrdiff_t>(ascii), text.end());
  return found == text.end() ? text.npos : static_cast<size_t>(found - text.begin());
}

std::string escaped(std::string_view text) {
  std::string shown;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '\n' || text[i] == '\t')
      shown += text[i++];
    else
      i += append_escaped(shown, text.substr(i), false);
  }
  return shown;
}

std::string shortened(std::string_view text, size_t most) {
  std::string shown;
  size_t i = 0;
  while (i < text.size() && i < most) i += append_escaped(shown, text.substr(i), true);
  return i < text.size() ? shown + "…" : shown;
}

std::string in_quotes(std::string_view text, char mark, size_t most) {
  return mark + shortened(text, most) + mark;
}

std::string string_literal(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\')
      (literal += '\\') += c;
    else if (byte < 0x20 || byte == 0x7F)
      literal += fmt::format("\\u{:04X}", byte);
    else
      literal += c;
  }
  return literal += '"';
}

}  // namespace heed::inline HEED_REAL
