#include <algorithm>
#include <array>
#include <cmath>

#include "core/kernels/map.h"
#include "core/kernels/more_kernels.h"
#include "core/kernels/simd/lanes.h"
#include "core/kernels/simd/vector_math.h"
#include "core/parallel.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

// Returns the sum of f(first, last) over consecutive pieces of [0, n), each at least `grain` long.
// The pieces are added in order.
template <class F>
double sum_over_pieces(int64_t n, int64_t grain, F f) {
  constexpr int64_t max_pieces = 64;
  const int64_t piece = std::max(grain, (n + max_pieces - 1) / max_pieces);
  std::array<double, max_pieces> sums{};
  parallel_for(n, piece, [&](int64_t first, int64_t last) {
    sums[static_cast<size_t>(first / piece)] = f(first, last);
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

// Σ (maximum - x[v]) over the classes with probability p.other.
real sum_of_others(int64_t classes, const real* x, real maximum, int32_t target, int32_t never) {
  return sum_of(classes, [=](int64_t v) {
    const auto other = static_cast<int32_t>(v);
    return other == target || other == never ? 0 : maximum - x[v];
  });
}

// The loss of one row. exp is computed once a logit: the terms of the sum are kept for the
// gradient.
double row_loss(int64_t classes, const TargetDistribution& p, const real* x, int32_t target,
                real* gradient) {
  const real maximum = row_max(classes, x);
  if (maximum == -infinity) {  // all are -inf, so the loss is inf for any target; or NaN
    const real total = row_sum(classes, x);
    if (gradient) std::fill_n(gradient, classes, std::isnan(total) ? total : 0);
    return -double{total};
  }
  double loss = 0;  // a class with p = 0 may have a logit of -inf: 0 · inf would be NaN
  if (p.target > 0) loss = p.target * (double{maximum} - double{x[target]});
  if (p.other > 0) loss += p.other * double{sum_of_others(classes, x, maximum, target, p.never)};
  if (!gradient)
    return loss + std::log(double{sum_of(classes, [=](int64_t v) { return exp(x[v] - maximum); })});
    // Two loops: row_sum() adds in an order that does not depend on the address of the row.
#pragma omp simd
  for (int64_t v = 0; v < classes; ++v) gradient[v] = exp(x[v] - maximum);
  const real total = row_sum(classes, gradient);
  const real inverse = 1 / total, other = static_cast<real>(p.other);
#pragma omp simd
  for (int64_t v = 0; v < classes; ++v) gradient[v] = inverse * gradient[v] - other;
  gradient[target] -= static_cast<real>(p.target - p.other);
  if (p.never >= 0) gradient[p.never] += other;
  return loss + std::log(double{total});
}

}  // namespace

double cross_entropy(const CrossEntropySizes& n, const TargetDistribution& p, const real* logits,
                     const int32_t* targets, real* gradient, real* losses) {
  return sum_over_pieces(n.rows, chunk_rows(n.classes), [=](int64_t first, int64_t last) {
    double sum = 0;
    for (int64_t i = first; i < last; ++i) {
      real* row = gradient ? gradient + i * n.classes : nullptr;
      double loss = 0;
      if (targets[i] != n.ignored)
        loss = row_loss(n.classes, p, logits + i * n.classes, targets[i], row);
      else if (row)
        std::fill_n(row, n.classes, real{0});
      if (losses) losses[i] = static_cast<real>(loss);
      sum += loss;
    }
    return sum;
  });
}

void scale_rows(const Rows& n, const real* factors, const real* x, Destination to) {
  for_each_row(n.rows, n.width, [=, width = n.width](int64_t i) {
    const real factor = factors[i], *from = x + i * width;
    map_range(0, width, {to.data + i * width, to.accumulate},
              [=](int64_t j) { return factor * from[j]; });
  });
}

double squared_distance(int64_t n, const real* x, const real* y) {
  return sum_over_pieces(n, chunk_elements, [=](int64_t first, int64_t last) {
    constexpr int64_t block = 1024;  // summed in `real`; the blocks are summed in double
    double total = 0;
    for (int64_t i = first; i < last; i += block) {
      const auto difference = [](Vector a, Vector b) { return a - b; };
      total += double{sum_of_squares(std::min(block, last - i), difference, x + i, y + i)};
    }
    return total;
  });
}

void scaled_difference(int64_t n, real factor, const real* x, const real* y, Destination to) {
  map(n, to, [=](int64_t i) { return factor * (x[i] - y[i]); });
}

}  // namespace heed::inline HEED_REAL::kernels
