// Statistics of scores over seeds: means with intervals, and differences between two groups of runs
// that are paired by seed.
//
// Every function gives the same bits on each call: what is drawn at random comes from one fixed
// stream. All intervals are those of 95 %.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed {

struct Interval {
  double low = 0, high = 0;
};

// A mean with its Student interval: mean ± half_width.
struct MeanInterval {
  int64_t n = 0;
  double mean = 0;
  double half_width = 0;  // t(0.975, n - 1) · s / √n; infinity for n = 1
};
// n ≥ 1.
MeanInterval student_mean(std::span<const double> values);

// Returns the bootstrap interval BCa of the mean (Efron 1987, "Better bootstrap confidence
// intervals"), from all nⁿ resamples up to n = 6, and from 50,000 beyond. Its ends are quantiles of
// the means of the resamples, interpolated linearly, as in SciPy. All values equal: an interval of
// width 0. n = 1: the interval from -∞ to ∞.
Interval bca_interval(std::span<const double> differences);

// Returns the two-sided p of the hypothesis that the differences are symmetric around 0: the
// fraction of the 2ⁿ choices of signs with a mean at least as far from 0 as the observed one. Up to
// n = 20 of all choices, beyond of 65,535 and the observed one. 1 if all differences are 0.
double sign_flip_p(std::span<const double> differences);
// The smallest p that n differences can have, 2 / 2ⁿ, times the number of comparisons (Holm).
double smallest_p(int64_t n, int64_t comparisons = 1);
// The number of differences from which on smallest_p() is below 0.05.
int64_t least_differences(int64_t comparisons = 1);

// Returns the p of several comparisons, adjusted so that the probability of one or more false
// alarms stays below the threshold (Holm 1979), in the order of the arguments.
std::vector<double> holm(std::span<const double> p);

// Returns the middle value, or the mean of the two middle ones. Values may be infinite. n ≥ 1.
double median_of(std::vector<double> values);

}  // namespace heed
