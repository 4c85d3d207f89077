// Losses from rows of logits, and of squares.
#pragma once

#include <cstdint>

#include "core/kernels/destination.h"

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

// -Σₙ Σᵥ p(n, v) log softmax(logits)[n, v]. logits (rows, classes), targets (rows). Keeps of every
// row what its softmax takes: the greatest logit and 1 / Σ exp(logit - greatest), in shift and
// share (rows).
double cross_entropy_forward(const CrossEntropySizes& n, const TargetShares& p, const real* logits,
                             const int32_t* targets, real* shift, real* share);

// dlogits = dy (softmax(logits) - p)
void cross_entropy_backward(const CrossEntropySizes& n, const TargetShares& p, real dy,
                            const real* logits, const int32_t* targets, const real* shift,
                            const real* share, Destination dlogits);

// Σ (x - y)², i < n
double squared_distance(int64_t n, const real* x, const real* y);

// to = factor (x - y)
void scaled_difference(int64_t n, real factor, const real* x, const real* y, Destination to);

}  // namespace heed::inline HEED_REAL::kernels
