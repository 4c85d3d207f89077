#include "core/fields.h"

#include <fmt/format.h>

namespace heed::inline HEED_REAL {

std::string range_text(Range range) {
  if (std::isfinite(range.least) && std::isfinite(range.most))
    return fmt::format("{} … {}", range.least, range.most);
  if (std::isfinite(range.least)) return fmt::format("≥ {}", range.least);
  return std::isfinite(range.most) ? fmt::format("≤ {}", range.most) : "";
}

std::string expected_number(const char* kind, Range range) {
  const std::string text = range_text(range);
  return text.empty() ? kind : fmt::format("{}, {}", kind, text);
}

void check_range(const char* owner, const char* name, double number, Range range) {
  if (range.contains(number)) return;  // without the text of the error: each step checks its rate
  check_input(false, "{}: {}: expected {}, found {}", owner, name,
              expected_number("a number", range), number);
}

void check_range(const char* owner, const char* name, int64_t integer, Range range) {
  if (range.contains(static_cast<double>(integer))) return;
  check_input(false, "{}: {}: expected {}, found {}", owner, name,
              expected_number("an integer", range), integer);
}

void RangeChecker::visit(const Field& field) {
  const auto check = [&](auto number) {
    check_range(owner_, (section_ + field.name).c_str(), number, field.range);
  };
  if (const auto* number = std::get_if<double*>(&field.value)) check(**number);
  if (const auto* integer = std::get_if<int64_t*>(&field.value)) check(**integer);
  if (const auto* integers = std::get_if<std::vector<int64_t>*>(&field.value))
    for (const int64_t integer : **integers) check(integer);
}

void RangeChecker::enter(const char* name, const char*) {
  outer_.push_back(section_.size());
  section_ += name;
  section_ += '.';
}

void RangeChecker::leave() {
  section_.resize(outer_.back());
  outer_.pop_back();
}

}  // namespace heed::inline HEED_REAL
