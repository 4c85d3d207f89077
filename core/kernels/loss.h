// Loss functions.
#pragma once

#include <cstdint>

#include "core/destination.h"

namespace heed::inline HEED_REAL::kernels {

struct CrossEntropySizes {
  int64_t rows, classes;
  int32_t ignored;  // the target of rows that do not count
};

// The target distribution p(n, v) of a row with label smoothing.
struct TargetDistribution {
  double target, other;  // p of the row's target, and of every other class
  int32_t never;         // the class with p = 0; -1: none
};

// Returns -Σₙ Σᵥ p(n, v) log softmax(logits)[n, v] over the rows whose target is not `ignored`.
// logits (rows, classes), targets (rows). `gradient`, shaped like the logits, receives
// softmax(logits) - p, and 0 in ignored rows; it may be the logits themselves, which it then
// overwrites, or null.
double cross_entropy(const CrossEntropySizes& n, const TargetDistribution& p, const real* logits,
                     const int32_t* targets, real* gradient);

// Returns Σ (x[i] - y[i])², i < n.
double squared_distance(int64_t n, const real* x, const real* y);

// to[i] = factor (x[i] - y[i]), i < n
void scaled_difference(int64_t n, real factor, const real* x, const real* y, Destination to);

}  // namespace heed::inline HEED_REAL::kernels
