// White space as Unicode and Python's str.split() define it, for scores that sacreBLEU defines.
#pragma once

#include <cstddef>
#include <string_view>

namespace heed {

// Returns the length in bytes of the white space character that a text starts with, or 0.
size_t space_length(std::string_view text);

}  // namespace heed
