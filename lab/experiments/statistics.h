// Statistics of scores over seeds: means with intervals, and differences between two groups of runs
// that are paired by seed.
//
// Every function returns the same bits on each call: random draws come from one fixed stream. All
// intervals are 95 % intervals.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/named.h"

namespace heed {

struct Interval {
  double low = 0, high = 0;
};

// How the limits of a mean were found.
enum class IntervalKind { none, student, logit, wilson };
inline constexpr Named<IntervalKind> interval_kind_names[] = {{"none", IntervalKind::none},
                                                              {"student", IntervalKind::student},
                                                              {"logit", IntervalKind::logit},
                                                              {"wilson", IntervalKind::wilson}};

struct MeanInterval {
  int64_t n = 0;
  double mean = 0;
  double half_width = 0;  // of `interval`; infinity if there is none
  Interval interval = {};
  IntervalKind kind = IntervalKind::student;

  bool has_interval() const { return std::isfinite(half_width); }
};
// Returns the mean with its Student interval (Student 1908, "The probable error of a mean"): mean ±
// t(0.975, n - 1) · s / √n; none for n = 1. n ≥ 1.
MeanInterval student_mean(std::span<const double> values);
// Returns the geometric mean of positive values with Student's interval of their logarithms: what a
// logarithmic axis shows. half_width: of the logarithm's interval. n ≥ 1.
MeanInterval geometric_mean(std::span<const double> values);
// Returns the mean of values in [0, most] with an interval inside these limits: Student's on the
// logit of the mean, whose standard error is that of the mean divided by mean (1 - mean) (Korn and
// Graubard 1998, "Confidence intervals for proportions with small expected number of positive
// counts"). Equal values, or a single one, say nothing about the spread between seeds: they get
// student_mean(). n ≥ 1.
MeanInterval logit_mean(std::span<const double> values, double most);
// Returns the mean of equal fractions, or of a single one, with wilson_interval(). n ≥ 1.
MeanInterval wilson_mean(std::span<const double> values, int64_t examples);
// Returns whether all values are equal, as a single one is.
bool are_equal(std::span<const double> values);
// Returns the interval of a fraction of `examples` ≥ 1 independent examples (Wilson 1927, "Probable
// inference, the law of succession, and statistical inference").
Interval wilson_interval(double fraction, int64_t examples);

// Returns the two-sided p of the hypothesis that the differences are symmetric around 0: the
// fraction of the 2ⁿ choices of signs with a mean at least as far from 0 as the observed one. Up to
// n = 20 of all choices, beyond of 65,535 and the observed one. 1 if all differences are 0.
double sign_flip_p(std::span<const double> differences);
// The number of differences from which on the smallest sign_flip_p(), 2 / 2ⁿ, is below 0.05.
inline constexpr int64_t least_flipped = 6;

// The effect of a change, from pairs of runs that differ in it.
struct Effect {
  double size = 0;    // 1 or 0 is no effect: see below
  Interval interval;  // unbounded if there is one pair
  double p = NAN;     // that of Student's paired test, two-sided; NaN: there is none
};
// Returns the mean difference with its Student interval and p; 0 is no effect. The interval
// excludes 0 where p < 0.05. A single difference has neither, and equal ones have no p. n ≥ 1.
Effect difference_of(std::span<const double> differences);
// Returns the same for ratios, from the differences of logarithms: the geometric mean of the
// ratios, and Student's interval on the logarithm; 1 is no effect. n ≥ 1.
Effect ratio_of(std::span<const double> log_differences);

// Returns the p of several comparisons, adjusted so that the probability of one or more false
// alarms stays below the threshold (Holm 1979), in the order of the arguments.
std::vector<double> holm(std::span<const double> p);

}  // namespace heed
