// Numbers as people read them.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

namespace heed {

// Returns four significant digits: "1.808", "0.0004812", "1.200e-05".
inline std::string four_digits(double number) { return fmt::format("{:#.4g}", number); }

// Returns the number with the digits that float32 has, for numbers around 1.
inline double float32_digits(double number) { return std::round(number * 1e6) / 1e6; }

// Returns the number with six significant digits, for rows and charts of hundreds of numbers.
inline double six_digits(double number) {
  return std::strtod(fmt::format("{:.6g}", number).c_str(), nullptr);
}

// Returns the number as text: "NaN" without the sign that it may have, "infinity", "-infinity".
inline std::string number_in_words(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "infinity" : "-infinity";
  return fmt::format("{}", number);
}

// Returns seconds, rounded to milliseconds.
inline double to_milliseconds(double seconds) { return std::round(1000 * seconds) / 1000; }

// Returns the nearest integer with commas: 52310 → "52,310".
inline std::string grouped(double number) {
  std::string digits = fmt::format("{:.0f}", number);
  for (auto i = static_cast<int>(digits.size()) - 3; i > (number < 0 ? 1 : 0); i -= 3)
    digits.insert(static_cast<size_t>(i), ",");
  return digits;
}
inline std::string grouped(int64_t number) { return grouped(static_cast<double>(number)); }

// Returns the number that the whole text is; none if it is no number.
inline std::optional<double> number_of_text(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' ? std::optional(number) : std::nullopt;
}

// Returns "1 thread", "2 threads".
inline std::string counted(int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace heed
