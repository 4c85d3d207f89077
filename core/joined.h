// Lists in messages: "a, b, c". (fmt::join says the same, and takes more than a second to compile
// wherever it is used.)
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/real.h"

namespace heed::inline HEED_REAL {

// The items, words or whole numbers, with `between` between them.
template <class Items>
std::string joined(const Items& items, std::string_view between = ", ") {
  std::string text;
  bool first = true;
  for (const auto& item : items) {
    if (!first) text += between;
    first = false;
    if constexpr (std::integral<std::remove_cvref_t<decltype(item)>>)
      text += std::to_string(item);
    else
      text += item;
  }
  return text;
}

}  // namespace heed::inline HEED_REAL
