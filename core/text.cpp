#include "core/text.h"

#include <fmt/format.h>

#include <cstdint>

namespace heed::inline HEED_REAL {
namespace {

uint32_t byte_at(std::string_view text, size_t i) {
  return i < text.size() ? static_cast<uint8_t>(text[i]) : 0U;
}

// The code point of a character of 1 … 3 bytes; those that are escaped have no more.
uint32_t code_of(std::string_view character) {
  const uint32_t first = byte_at(character, 0), second = byte_at(character, 1) & 0x3F;
  if (character.size() == 1) return first;
  if (character.size() == 2) return (first & 0x1F) << 6 | second;
  return (first & 0x0F) << 12 | second << 6 | (byte_at(character, 2) & 0x3F);
}

// Appends the character that `text` starts with, and returns its number of bytes.
size_t append_escaped(std::string& shown, std::string_view text) {
  const size_t length = utf8_length(text);
  const uint32_t code = length == 0 ? byte_at(text, 0) : code_of(text.substr(0, length));
  if (length == 0 || code < 0x20 || code == 0x7F)
    shown += fmt::format("\\x{:02x}", code);
  else if (length < 4 && ((code >= 0x80 && code < 0xA0) || (code >= 0x202A && code <= 0x202E) ||
                          (code >= 0x2066 && code <= 0x2069)))
    shown += fmt::format("\\u{:04x}", code);
  else
    shown += text.substr(0, length);
  return length == 0 ? 1 : length;
}

}  // namespace

// Unicode 15, table 3-7.
size_t utf8_length(std::string_view text) {
  const auto continues = [&](size_t i) { return (byte_at(text, i) & 0xC0) == 0x80; };
  const uint32_t first = byte_at(text, 0), second = byte_at(text, 1);
  if (text.empty()) return 0;
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first < 0xF0) {
    const bool overlong = first == 0xE0 && second < 0xA0,
               surrogate = first == 0xED && second > 0x9F;
    return continues(1) && continues(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first < 0xF5) {
    const bool overlong = first == 0xF0 && second < 0x90, beyond = first == 0xF4 && second > 0x8F;
    return continues(1) && continues(2) && continues(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

void append_utf8(std::string& text, uint32_t code) {
  const auto first = [&](uint32_t byte) { text += static_cast<char>(byte); };
  const auto continuation = [&](int shift) {
    text += static_cast<char>(0x80 | (code >> shift & 0x3F));
  };
  if (code < 0x80) {
    first(code);
  } else if (code < 0x800) {
    first(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    first(0xE0 | code >> 12);
  } else {
    first(0xF0 | code >> 18);
    continuation(12);
  }
  if (code >= 0x800) continuation(6);
  if (code >= 0x80) continuation(0);
}

std::string escaped(std::string_view text) {
  std::string shown;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '\n' || text[i] == '\t')
      shown += text[i++];
    else
      i += append_escaped(shown, text.substr(i));
  }
  return shown;
}

std::string shortened(std::string_view text, size_t most) {
  std::string shown;
  size_t i = 0;
  while (i < text.size() && i < most) i += append_escaped(shown, text.substr(i));
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
