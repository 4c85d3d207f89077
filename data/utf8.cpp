#include "data/utf8.h"

#include <utf8.h>

#include <algorithm>

namespace heed {

size_t character_count(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;  // not a continuation byte
  }));
}

size_t find_invalid_utf8(std::string_view text) {
  const auto found = utf8::find_invalid(text.begin(), text.end());
  return found == text.end() ? text.npos : static_cast<size_t>(found - text.begin());
}

}  // namespace heed
