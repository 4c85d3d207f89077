#include "apps/support/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace heed {
namespace {

constexpr double slack = 1e-9;  // of a step

// The double that a decimal number of twelve digits is.
double rounded(double number) {
  return std::strtod(fmt::format("{:.11e}", number).c_str(), nullptr);
}

double power_of_ten(int exponent) {
  return std::strtod(fmt::format("1e{}", exponent).c_str(), nullptr);
}

// A step of 1, 2 or 5 · 10ⁿ that divides a span into at most `most` parts.
double round_step(double span, int most) {
  const double unit = std::pow(10, std::floor(std::log10(span / most)));
  for (const int factor : {1, 2, 5})
    if (span / (factor * unit) <= most + slack) return factor * unit;
  return 10 * unit;
}

std::vector<double> multiples(double step, double low, double high) {
  std::vector<double> ticks;
  for (double i = std::ceil(low / step - slack) + 0.0; i * step <= high + slack * step; ++i)
    ticks.push_back(rounded(i * step));
  return ticks;
}

// At least three, where a smaller step is needed for that.
std::vector<double> linear_ticks(double low, double high, int most) {
  double step = round_step(high - low, most);
  std::vector<double> ticks = multiples(step, low, high);
  while (ticks.size() < 3) {
    const bool is_five = step / std::pow(10, std::floor(std::log10(step) + slack)) > 4;
    step /= is_five ? 2.5 : 2;
    ticks = multiples(step, low, high);
  }
  return ticks;
}

std::vector<double> log_ticks(double low, double high, int most) {
  const int first = static_cast<int>(std::ceil(std::log10(low) - slack)),
            last = static_cast<int>(std::floor(std::log10(high) + slack));
  std::vector<double> ticks;
  if (last - first >= 2) {
    const int every = (last - first + most) / most;  // rounded up
    for (int n = first; n <= last; n += every) ticks.push_back(power_of_ten(n));
    return ticks;
  }
  size_t ten = 0;  // index of the first power of ten
  for (int n = first - 1; n <= last; ++n)
    for (const int digit : {1, 2, 5}) {
      const double tick = std::strtod(fmt::format("{}e{}", digit, n).c_str(), nullptr);
      if (tick < low * (1 - slack) || tick > high * (1 + slack)) continue;
      if (digit == 1 && n == first) ten = ticks.size();
      ticks.push_back(tick);
    }
  if (ticks.size() < 3) return linear_ticks(low, high, most);
  // Too many: every second or third, powers of ten among them if that leaves three.
  const size_t every = (ticks.size() + static_cast<size_t>(most)) / (static_cast<size_t>(most) + 1);
  for (const size_t begin : {ten % every, size_t{0}}) {
    std::vector<double> chosen;
    for (size_t i = begin; i < ticks.size(); i += every) chosen.push_back(ticks[i]);
    if (chosen.size() >= 3) return chosen;
  }
  return ticks;
}

}  // namespace

bool wants_log(double lowest, double highest) { return lowest > 0 && highest > 30 * lowest; }

std::vector<double> ticks_of(bool log, double lowest, double highest, int most) {
  if (!(lowest < highest)) return {lowest};
  return log ? log_ticks(lowest, highest, most) : linear_ticks(lowest, highest, most);
}

std::vector<size_t> thinned(const std::vector<double>& values, size_t most) {
  const size_t count = values.size();
  std::vector<size_t> kept;
  if (count <= most) {
    for (size_t i = 0; i < count; ++i) kept.push_back(i);
    return kept;
  }
  const size_t parts = (most - 2) / 2;
  kept.push_back(0);
  for (size_t part = 0; part < parts; ++part) {
    const auto bound = [&](size_t p) {
      return values.begin() + static_cast<ptrdiff_t>(1 + p * (count - 2) / parts);
    };
    const auto [least, largest] = std::minmax_element(bound(part), bound(part + 1));
    const auto [first, second] = std::minmax(least, largest);
    kept.push_back(static_cast<size_t>(first - values.begin()));
    if (second != first) kept.push_back(static_cast<size_t>(second - values.begin()));
  }
  kept.push_back(count - 1);
  return kept;
}

}  // namespace heed
