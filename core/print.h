// Printing tensors with fmt, like PyTorch:
//
//   fmt::print("{}\n", x);
//
//   tensor([[1, 2.5, 3],
//           [4,  -5, 6]])
//
// Values have four significant digits and are aligned in columns. Of a tensor of more than 1000
// elements, the first and the last three along each axis are shown, and its shape.
#pragma once

#include <fmt/core.h>

#include <string>

#include "core/ids.h"
#include "core/tensor.h"

namespace heed::inline HEED_REAL {

// Returns what fmt prints.
std::string to_string(const Tensor& x);
std::string to_string(const Ids& x);

namespace detail {
// Makes fmt print what to_string() returns. Clients do not need it.
template <class T>
struct TextFormatter {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  template <class Context>
  auto format(const T& x, Context& context) const {
    auto out = context.out();
    for (const char c : to_string(x)) *out++ = c;
    return out;
  }
};
}  // namespace detail

}  // namespace heed::inline HEED_REAL

template <>
struct fmt::formatter<heed::HEED_REAL::Tensor>
    : heed::HEED_REAL::detail::TextFormatter<heed::HEED_REAL::Tensor> {};
template <>
struct fmt::formatter<heed::HEED_REAL::Ids>
    : heed::HEED_REAL::detail::TextFormatter<heed::HEED_REAL::Ids> {};
