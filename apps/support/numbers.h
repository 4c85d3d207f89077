// Numbers as people read them.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>

namespace heed {

// Returns four significant digits: "1.808", "0.0004812", "1.200e-05".
inline std::string four_digits(double number) { return fmt::format("{:#.4g}", number); }

// Returns the number with the digits that float32 has, for numbers around 1.
inline double float32_digits(double number) { return std::round(number * 1e6) / 1e6; }

// Returns "1 thread", "2 threads".
inline std::string counted(int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace heed
