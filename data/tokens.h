// Splits a text into tokens.
#pragma once

#include <algorithm>
#include <string_view>

#include "core/fields.h"
#include "core/text.h"

namespace heed {

// The unit of text that one token holds.
enum class Level { character, byte, word, subword };
// Each word of data.level with its level.
inline constexpr Named<Level> levels[] = {{"character", Level::character},
                                          {"byte", Level::byte},
                                          {"word", Level::word},
                                          {"subword", Level::subword}};

// What separates words.
inline constexpr std::string_view white_space = " \t\n\v\f\r";
// Returns whether c separates words.
constexpr bool is_white_space(char c) { return c == ' ' || ('\t' <= c && c <= '\r'); }

// Calls visit(std::string_view) for each token of `text` in order. A character is one Unicode code
// point. A word is a maximal run without ASCII white space. For characters and words the text
// should be valid UTF-8: other bytes give meaningless tokens. Not for subwords: see
// data/subwords.h.
template <class Visit>
void for_each_token(Level level, std::string_view text, Visit visit) {
  for (size_t at = 0, length = 1; at < text.size(); at += length) {
    if (level == Level::character) {
      length = std::min(character_length(text[at]), text.size() - at);
    } else if (level == Level::word) {
      while (at < text.size() && is_white_space(text[at])) ++at;
      if (at == text.size()) return;
      for (length = 1; at + length < text.size() && !is_white_space(text[at + length]);) ++length;
    }
    visit(text.substr(at, length));
  }
}

}  // namespace heed
