// The axes of drawings: from values to pixels, and their ticks.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace heed {

struct Limits {
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;

  void include(const std::vector<double>& values) {
    for (const double value : values) {
      lowest = std::min(lowest, value);
      highest = std::max(highest, value);
    }
  }
};

// A horizontal or vertical axis: from values to pixels, and its ticks.
class ChartAxis {
 public:
  ChartAxis(Limits limits, bool log, double begin, double end)
      : log_(log), begin_(begin), end_(end) {
    if (!(limits.lowest <= limits.highest)) limits = {0, 1};
    lowest_ = scaled(limits.lowest);
    highest_ = scaled(limits.highest);
    if (highest_ - lowest_ < 1e-12 * std::max(1.0, std::abs(lowest_))) {
      const double room = log ? 0.5 : std::max(std::abs(lowest_), 1e-6) / 2;
      lowest_ -= room;
      highest_ += room;
    }
  }

  double pixel(double value) const {
    return begin_ + (scaled(value) - lowest_) / (highest_ - lowest_) * (end_ - begin_);
  }

  // About five round numbers, or powers of ten.
  std::vector<double> ticks() const {
    std::vector<double> values;
    const double span = highest_ - lowest_;
    double unit = std::pow(10, std::floor(std::log10(span / 4)));
    if (span / unit > 12) unit *= 5;
    if (span / unit > 6) unit *= 2;
    if (log_) unit = std::max(1.0, std::round(unit));
    for (double at = std::ceil(lowest_ / unit); at * unit <= highest_; ++at)
      values.push_back(log_ ? std::pow(10, at * unit) : at * unit);
    return values;
  }

 private:
  double scaled(double value) const { return log_ ? std::log10(value) : value; }

  bool log_;
  double begin_, end_, lowest_ = 0, highest_ = 1;
};

// Where values span more than a factor of 30; a schedule of rates is known by its linear shape.
inline bool is_logarithmic(const std::string& name, const Limits& limits) {
  return limits.lowest > 0 && limits.highest > 30 * limits.lowest && name != "lr";
}

inline std::string tick_text(double value) {
  if (value == 0) return "0";
  return std::abs(value) >= 1e4 && std::abs(value) < 1e7 ? fmt::format("{:.0f}", value)
                                                         : fmt::format("{:.4g}", value);
}

}  // namespace heed
