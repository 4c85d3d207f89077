#include "apps/inference/white_space.h"

namespace heed {

size_t space_length(std::string_view text) {
  constexpr std::string_view single = " \t\n\v\f\r\x1c\x1d\x1e\x1f";
  constexpr std::string_view longer[] = {
      "\xc2\x85",     "\xc2\xa0",                                      // next line, no-break space
      "\xe1\x9a\x80",                                                  // ogham
      "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f",  // separators, narrow, maths
      "\xe3\x80\x80",                                                  // ideographic
  };
  if (text.empty()) return 0;
  if (single.find(text[0]) != single.npos) return 1;
  for (const std::string_view space : longer)
    if (text.starts_with(space)) return space.size();
  if (!text.starts_with("\xe2\x80") || text.size() < 3) return 0;
  const auto last = static_cast<unsigned char>(text[2]);
  return last >= 0x80 && last <= 0x8a ? 3 : 0;  // U+2000 … U+200A: spaces of various widths
}

}  // namespace heed
