// Lists in messages: "a, b, c". (fmt::join takes more than a second to compile in each file.)
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/real.h"

namespace heed::inline HEED_REAL {

// Joins strings or integers with a separator.
template <class Items>
std::string joined(const Items& items, std::string_view separator = ", ") {
  std::string text;
  bool first = true;
  for (const auto& item : items) {
    if (!first) text += separator;
    first = false;
    if constexpr (std::integral<std::remove_cvref_t<decltype(item)>>)
      text += std::to_string(item);
    else
      text += item;
  }
  return text;
}

}  // namespace heed::inline HEED_REAL
