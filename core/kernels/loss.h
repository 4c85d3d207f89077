// Losses from rows of logits, and of squares.
#pragma once

#include <cstdint>

#include "core/destination.h"

namespace heed::inline HEED_REAL::kernels {

struct CrossEntropySizes {
  int64_t rows, classes;
  int32_t ignored;  // the target of rows that do not count
};

// The distribution p of a row that is wanted of its softmax.
struct TargetShares {
  double target, other;  // p of the row's target, and of every other class
  int32_t never;         // but this one, if there is one: 0
};

// -Σₙ Σᵥ p(n, v) log softmax(logits)[n, v], and what it has for gradient, softmax(logits) - p, in
// the rows that count and 0 in the others. logits (rows, classes), targets (rows); `gradient` as
// the logits, or these themselves, which it then replaces, or null.
double cross_entropy(const CrossEntropySizes& n, const TargetShares& p, const real* logits,
                     const int32_t* targets, real* gradient);

// Σ (x - y)², i < n
double squared_distance(int64_t n, const real* x, const real* y);

// to = factor (x - y)
void scaled_difference(int64_t n, real factor, const real* x, const real* y, Destination to);

}  // namespace heed::inline HEED_REAL::kernels
