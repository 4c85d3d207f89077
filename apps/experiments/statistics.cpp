// Boost.Math, for two quantiles, takes seconds to compile. Only this file includes it.
#include "apps/experiments/statistics.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/check.h"
#include "core/random.h"

namespace heed {
namespace {

constexpr double alpha = 0.05;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int64_t max_enumerated = 6;  // 6⁶ = 46,656 resamples
constexpr int64_t drawn_resamples = 50'000;
constexpr int64_t max_flipped = 20;  // 2²⁰ choices of signs
constexpr int64_t drawn_flips = 65'535;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The stream of all that is drawn here. It belongs to no seed of a run.
Random fixed_stream() { return Random(StreamKey()); }

// A difference between sums of the same values in another order is rounding.
double rounding_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += std::abs(value);
  return 1e-14 * sum;
}

// Returns the means of all resamples with replacement, sorted; or those of some of them.
std::vector<double> resampled_means(std::span<const double> values) {
  const auto n = std::ssize(values);
  const bool all = n <= max_enumerated;
  int64_t count = all ? 1 : drawn_resamples;
  for (int64_t i = 0; all && i < n; ++i) count *= n;
  Random random = fixed_stream();
  std::vector<double> means;
  means.reserve(static_cast<size_t>(count));
  for (int64_t resample = 0; resample < count; ++resample) {
    double sum = 0;
    int64_t digits = resample;  // base n: the index of each value
    for (int64_t i = 0; i < n; ++i, digits /= n)
      sum += values[static_cast<size_t>(
          all ? digits % n : static_cast<int64_t>(random.below(static_cast<uint64_t>(n))))];
    means.push_back(sum / static_cast<double>(n));
  }
  std::sort(means.begin(), means.end());
  return means;
}

// Returns the fraction of sorted values below x, and half of those equal to it.
double fraction_below(const std::vector<double>& sorted, double x, double rounding) {
  const auto below = std::lower_bound(sorted.begin(), sorted.end(), x - rounding);
  const auto up_to = std::upper_bound(sorted.begin(), sorted.end(), x + rounding);
  return static_cast<double>((below - sorted.begin()) + (up_to - sorted.begin())) /
         (2 * static_cast<double>(sorted.size()));
}

// Returns the quantile of sorted values, interpolated linearly between two of them.
double quantile_of(const std::vector<double>& sorted, double p) {
  const double at = p * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return std::lerp(sorted[low], sorted[high], at - static_cast<double>(low));
}

// Returns the acceleration of the mean, by the jackknife: Σ d³ / (6 (Σ d²)^1.5), where d is how
// much the mean falls when a value is left out. These are proportional to values - mean.
double acceleration(std::span<const double> values, double mean) {
  double squares = 0, cubes = 0;
  for (const double value : values) {
    const double d = value - mean;
    squares += d * d;
    cubes += d * d * d;
  }
  return cubes / (6 * std::pow(squares, 1.5));
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
  if (n == 1) return {n, mean, infinity};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto count = static_cast<double>(n);
  const double t = boost::math::quantile(boost::math::students_t(count - 1), 1 - alpha / 2);
  return {n, mean, t * std::sqrt(squares / (count - 1) / count)};
}

Interval bca_interval(std::span<const double> differences) {
  check(!differences.empty(), "the interval of no differences");
  if (differences.size() == 1) return {-infinity, infinity};
  const auto [lowest, highest] = std::minmax_element(differences.begin(), differences.end());
  if (*lowest == *highest) return {*lowest, *highest};
  const double mean = mean_of(differences);
  const std::vector<double> means = resampled_means(differences);
  const boost::math::normal normal;
  const double rounding = rounding_of(differences) / static_cast<double>(differences.size());
  const double z0 = boost::math::quantile(normal, fraction_below(means, mean, rounding));
  const double a = acceleration(differences, mean);
  const auto end = [&](double p) {
    const double z = z0 + boost::math::quantile(normal, p);
    return quantile_of(means, boost::math::cdf(normal, z0 + z / (1 - a * z)));
  };
  return {end(alpha / 2), end(1 - alpha / 2)};
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

double smallest_p(int64_t n, int64_t comparisons) {
  return std::min(1.0,
                  static_cast<double>(comparisons) * std::pow(2.0, 1 - static_cast<double>(n)));
}

int64_t least_differences(int64_t comparisons) {
  int64_t n = 1;
  while (smallest_p(n, comparisons) >= alpha) ++n;
  return n;
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

double median_of(std::vector<double> values) {
  check(!values.empty(), "the median of no values");
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  if (values.size() % 2 == 1 || values[middle - 1] == values[middle]) return values[middle];
  return values[middle - 1] / 2 + values[middle] / 2;
}

}  // namespace heed
