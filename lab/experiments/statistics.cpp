#include "lab/experiments/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/check.h"
#include "core/random.h"
#include "lab/experiments/student.h"

namespace heed {
namespace {

constexpr double normal_quantile = 1.959963984540054;  // 97.5 % of a standard normal lie below
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int64_t max_flipped = 20;  // 2²⁰ choices of signs
constexpr int64_t drawn_flips = 65'535;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The stream of all random draws in this file. No seed of a run uses it.
Random fixed_stream() { return Random(StreamKey()); }

// A difference between sums of the same values in another order is rounding.
double rounding_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += std::abs(value);
  return 1e-14 * sum;
}

double sum_with_signs(std::span<const double> values, uint64_t negative) {
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) sum += (negative >> i & 1) ? -values[i] : values[i];
  return sum;
}

}  // namespace

MeanInterval student_mean(std::span<const double> values) {
  check(!values.empty(), "the mean of no values");
  const auto n = std::ssize(values);
  const double mean = mean_of(values);
  if (n == 1) return {n, mean, infinity, {-infinity, infinity}, IntervalKind::none};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto count = static_cast<double>(n);
  const double error = std::sqrt(squares / (count - 1) / count);
  const double half = error == 0 ? 0 : student_quantile(n) * error;
  return {n,
          mean,
          half,
          {mean - half, mean + half},
          std::isfinite(half) ? IntervalKind::student : IntervalKind::none};
}

MeanInterval geometric_mean(std::span<const double> values) {
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  MeanInterval result = student_mean(logs);
  result.mean = std::exp(result.mean);
  result.interval = {std::exp(result.interval.low), std::exp(result.interval.high)};
  return result;
}

Interval wilson_interval(double fraction, int64_t examples) {
  check(examples > 0, "the interval of no examples");
  const auto count = static_cast<double>(examples);
  const double z = normal_quantile, weight = 1 + z * z / count;
  const double centre = (fraction + z * z / (2 * count)) / weight;
  const double half =
      z / weight * std::sqrt(fraction * (1 - fraction) / count + z * z / (4 * count * count));
  return {std::clamp(centre - half, 0.0, fraction), std::clamp(centre + half, fraction, 1.0)};
}

bool are_equal(std::span<const double> values) {
  return std::ranges::all_of(values, [&](double value) { return value == values[0]; });
}

static MeanInterval with_interval(MeanInterval mean, Interval interval, IntervalKind kind) {
  return {mean.n, mean.mean, (interval.high - interval.low) / 2, interval, kind};
}

MeanInterval logit_mean(std::span<const double> values, double most) {
  const MeanInterval mean = student_mean(values);
  if (are_equal(values) || std::isinf(mean.half_width)) return mean;
  const double fraction = std::clamp(mean.mean / most, 0.0, 1.0);
  const double logit = std::log(fraction / (1 - fraction));
  const double half = mean.half_width / most / (fraction * (1 - fraction));
  const auto limit = [&](double x) { return most / (1 + std::exp(-x)); };
  return with_interval(mean, {limit(logit - half), limit(logit + half)}, IntervalKind::logit);
}

MeanInterval wilson_mean(std::span<const double> values, int64_t examples) {
  const MeanInterval mean = student_mean(values);
  return with_interval(mean, wilson_interval(std::clamp(mean.mean, 0.0, 1.0), examples),
                       IntervalKind::wilson);
}

double sign_flip_p(std::span<const double> differences) {
  check(!differences.empty(), "the p of no differences");
  const auto n = std::ssize(differences);
  const double observed =
      std::abs(sum_with_signs(differences, 0)) - rounding_of(differences);  // or as good as equal
  if (n <= max_flipped) {
    const uint64_t choices = uint64_t{1} << n;
    int64_t as_far = 0;
    for (uint64_t negative = 0; negative < choices; ++negative)
      as_far += std::abs(sum_with_signs(differences, negative)) >= observed;
    return static_cast<double>(as_far) / static_cast<double>(choices);
  }
  Random random = fixed_stream();
  int64_t as_far = 1;  // the observed one
  for (int64_t draw = 0; draw < drawn_flips; ++draw) {
    double sum = 0;
    for (const double difference : differences)
      sum += random.below(2) == 1 ? -difference : difference;
    as_far += std::abs(sum) >= observed;
  }
  return static_cast<double>(as_far) / static_cast<double>(drawn_flips + 1);
}

Effect difference_of(std::span<const double> differences) {
  const MeanInterval mean = student_mean(differences);
  const auto [least, most] = std::ranges::minmax(differences);
  if (mean.n > 1 && most - least <= rounding_of(differences))
    return {mean.mean, {mean.mean, mean.mean}};
  Effect effect{mean.mean, {mean.mean - mean.half_width, mean.mean + mean.half_width}};
  if (mean.has_interval())  // half of it is t(0.975, n - 1) standard errors
    effect.p = student_p(mean.n, mean.mean / mean.half_width * student_quantile(mean.n));
  return effect;
}

Effect ratio_of(std::span<const double> log_differences) {
  const Effect log = difference_of(log_differences);
  return {std::exp(log.size), {std::exp(log.interval.low), std::exp(log.interval.high)}, log.p};
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) { return p[i] < p[j]; });
  std::vector<double> adjusted(p.size());
  double highest = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    highest = std::max(highest, static_cast<double>(p.size() - rank) * p[order[rank]]);
    adjusted[order[rank]] = std::min(1.0, highest);
  }
  return adjusted;
}

}  // namespace heed
