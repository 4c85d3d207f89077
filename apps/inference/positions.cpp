#include "apps/inference/positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <utility>

#include "apps/inference/evaluation.h"
#include "core/check.h"
#include "core/standard_ops.h"
#include "core/text.h"

namespace heed {

PositionRange PositionRange::parse(const std::string& text) {
  const size_t colon = std::min(text.find(':'), text.size());
  const auto number = [&](const char* begin, const char* end, int64_t& value) {
    const auto [last, error] = std::from_chars(begin, end, value);
    return error == std::errc() && last == end && value >= 0;
  };
  const char *const begin = text.data(), *const end = begin + text.size();
  PositionRange range;
  const bool is_one = colon == text.size();
  const bool holds = number(begin, begin + colon, range.first) &&
                     (is_one || number(begin + colon + 1, end, range.last));
  if (is_one) range.last = range.first;
  check_input(holds && range.first <= range.last,
              "--positions {}: expected the first and the last position, from 0, such as 32:63",
              in_quotes(text));
  return range;
}

std::string PositionRange::text() const { return fmt::format("{}:{}", first, last); }

Dataset at_positions(const Dataset& all, const PositionRange& range) {
  const auto get = [&all, range](int64_t i, Example& example) {
    all.get(i, example);
    std::vector<float>& reference = example.reference;  // of each target
    const size_t width = reference_width(example);
    auto kept = reference.begin(), next = kept;
    for (size_t t = 0; t < example.target.size(); ++t) {
      const auto position = static_cast<int64_t>(t);
      const bool counts = position >= range.first && position <= range.last;
      if (example.target[t] != ignored) {
        const auto row = std::exchange(next, next + static_cast<ptrdiff_t>(width));
        if (counts) kept = kept == row ? next : std::copy(row, next, kept);
      }
      if (counts) continue;
      example.target[t] = ignored;
      if (t < example.values.size()) example.values[t] = NAN;
    }
    reference.erase(kept, reference.end());
  };
  return {all.size, get, std::cref(all.collate)};
}

void check_any_target(int64_t targets, const PositionRange& range) {
  check_input(targets > 0, "--positions {}: no target is at these positions", range.text());
}

}  // namespace heed
