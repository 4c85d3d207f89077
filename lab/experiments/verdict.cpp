#include "lab/experiments/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "apps/support/numbers.h"

namespace heed {
namespace {

constexpr double small_effect = 0.05;  // a ratio or a difference of fractions below it is none

bool has_points(const Effects& effects) { return !effects.by_ratio && effects.largest == 1; }

// Two significant digits; of a large number, all before the point.
std::string short_number(double number) {
  return std::abs(number) < 100 ? fmt::format("{:.2g}", number) : grouped(number);
}

// A ratio; near 1 with the digits that tell it from 1.
std::string ratio_text(double ratio) {
  const double distance = std::abs(ratio - 1);
  return distance < 0.005 ? fmt::format("{:.3f}", ratio)
         : distance < 0.1 ? fmt::format("{:.2f}", ratio)
                          : short_number(ratio);
}

// A ratio, or a difference, without its unit.
std::string size_of(double size, const Effects& effects) {
  if (effects.by_ratio) return ratio_text(size);
  return has_points(effects) ? fmt::format("{:.1f}", 100 * size) : short_number(size);
}
std::string signed_size(double size, const Effects& effects) {
  return (!effects.by_ratio && size > 0 ? "+" : "") + size_of(size, effects);
}

std::string unit_of(const Effects& effects) {
  return effects.by_ratio ? " times" : has_points(effects) ? " points" : "";
}

// "val.loss is 42 times as high", "test.exact_match is lower by 3.1 points"
std::string change(double size, const Effects& effects) {
  if (size == effects.no_effect()) return effects.score + " is the same";
  if (effects.by_ratio)
    return fmt::format("{} is {} times as high", effects.score, size_of(size, effects));
  return fmt::format("{} is {} by {}{}", effects.score, size < 0 ? "lower" : "higher",
                     size_of(std::abs(size), effects), unit_of(effects));
}

// "25 to 71", for a lower value the amounts by which it is lower
std::string limits(const Comparison& comparison, const Effects& effects) {
  double low = comparison.effect.interval.low, high = comparison.effect.interval.high;
  if (!effects.by_ratio && high < 0) std::tie(low, high) = std::pair(-high, -low);
  return fmt::format("{} to {}", size_of(low, effects), size_of(high, effects));
}

}  // namespace

Verdict verdict_of(const Comparison& comparison, const Effects& effects) {
  const auto& [size, interval, p] = comparison.effect;
  if (comparison.seeds.size() < 2 || !std::isfinite(interval.high)) return Verdict::few;
  if (std::isnan(p)) return Verdict::alike;
  if (comparison.adjusted_p < significance_level) return Verdict::difference;
  const bool is_small = interval.low > effects.no_effect() - small_effect &&
                        interval.high < effects.no_effect() + small_effect;
  return is_small && (effects.by_ratio || has_points(effects)) ? Verdict::none : Verdict::open;
}

std::string verdict_text(const Comparison& comparison, const Effects& effects) {
  const auto& [size, interval, p] = comparison.effect;
  const std::string pairs = counted(std::ssize(comparison.seeds), "pair");
  switch (verdict_of(comparison, effects)) {
    case Verdict::difference:
      return fmt::format("{} ({}; {})", change(size, effects), limits(comparison, effects), pairs);
    case Verdict::alike:
      return fmt::format("{} in each of {}, without any spread: there is no interval and no p",
                         change(size, effects), pairs);
    case Verdict::none: {
      const double most =
          std::max(effects.no_effect() - interval.low, interval.high - effects.no_effect());
      return fmt::format("no difference above {:.1f} {} ({})", 100 * most,
                         effects.by_ratio ? "%" : "points", pairs);
    }
    case Verdict::open:
      return fmt::format(
          "no difference shown{}: between {} and {}{} ({})",
          p < significance_level
              ? fmt::format(" after Holm's correction (p = {:.2g})", comparison.adjusted_p)
              : "",
          signed_size(interval.low, effects), signed_size(interval.high, effects), unit_of(effects),
          pairs);
    case Verdict::few:
      break;
  }
  if (comparison.seeds.empty()) return "no seed has a score on both sides";
  return comparison.seeds.size() == 1
             ? fmt::format("too few seeds: {} in the only pair", change(size, effects))
             : fmt::format("{} ({}, no interval)", change(size, effects), pairs);
}

}  // namespace heed
