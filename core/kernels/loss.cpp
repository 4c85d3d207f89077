#include "core/kernels/loss.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/kernels/map.h"
#include "core/kernels/simd/lanes.h"
#include "core/kernels/simd/vector_math.h"
#include "core/parallel.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

constexpr int64_t most_pieces = 64;

// Σ of f(first, last) over pieces of [0, n), which are added in order: at least `grain` each.
template <class F>
double sum_of_pieces(int64_t n, int64_t grain, F f) {
  const int64_t piece = std::max(grain, (n + most_pieces - 1) / most_pieces);
  std::array<double, most_pieces> sums{};
  parallel_for(n, piece, [&](int64_t first, int64_t last) {
    sums[static_cast<size_t>(first / piece)] = f(first, last);
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

// Σ (greatest - x[v]) over the classes that have the share `other`.
real sum_of_others(int64_t classes, const real* x, real greatest, int32_t target, int32_t never) {
  return sum_of(classes, [=](int64_t v) {
    const auto other = static_cast<int32_t>(v);
    return other == target || other == never ? 0 : greatest - x[v];
  });
}

// One row. Each logit is raised once: what is summed for the loss is kept for the gradient.
double row_loss(int64_t classes, const TargetShares& p, const real* x, int32_t target,
                real* gradient) {
  constexpr real infinity = std::numeric_limits<real>::infinity();
  const real greatest = row_max(classes, x);
  if (greatest == -infinity) {  // all is -inf, and whatever the target, its log is; or NaN
    const real total = row_sum(classes, x);
    if (gradient) std::fill_n(gradient, classes, std::isnan(total) ? total : 0);
    return -double{total};
  }
  double loss = 0;  // a class of no share may have a logit of -inf: 0 · inf would be NaN
  if (p.target > 0) loss = p.target * (double{greatest} - double{x[target]});
  if (p.other > 0) loss += p.other * double{sum_of_others(classes, x, greatest, target, p.never)};
  if (!gradient)
    return loss +
           std::log(double{sum_of(classes, [=](int64_t v) { return exp(x[v] - greatest); })});
    // Two loops: row_sum adds in an order that does not depend on where the row begins.
#pragma omp simd
  for (int64_t v = 0; v < classes; ++v) gradient[v] = exp(x[v] - greatest);
  const real total = row_sum(classes, gradient);
  const real share = 1 / total, other = static_cast<real>(p.other);
#pragma omp simd
  for (int64_t v = 0; v < classes; ++v) gradient[v] = share * gradient[v] - other;
  gradient[target] -= static_cast<real>(p.target - p.other);
  if (p.never >= 0) gradient[p.never] += other;
  return loss + std::log(double{total});
}

}  // namespace

double cross_entropy(const CrossEntropySizes& n, const TargetShares& p, const real* logits,
                     const int32_t* targets, real* gradient) {
  return sum_of_pieces(n.rows, chunk_rows(n.classes), [=](int64_t first, int64_t last) {
    double loss = 0;
    for (int64_t i = first; i < last; ++i) {
      real* row = gradient ? gradient + i * n.classes : nullptr;
      if (targets[i] != n.ignored)
        loss += row_loss(n.classes, p, logits + i * n.classes, targets[i], row);
      else if (row)
        std::fill_n(row, n.classes, real{0});
    }
    return loss;
  });
}

double squared_distance(int64_t n, const real* x, const real* y) {
  return sum_of_pieces(n, chunk_elements, [=](int64_t first, int64_t last) {
    constexpr int64_t run = 1024;  // in real; the runs in double
    double total = 0;
    for (int64_t i = first; i < last; i += run) {
      const auto square = [](Vector a, Vector b) { return (a - b) * (a - b); };
      total += double{sum_of_rows(std::min(run, last - i), square, x + i, y + i)};
    }
    return total;
  });
}

void scaled_difference(int64_t n, real factor, const real* x, const real* y, Destination to) {
  map(n, to, [=](int64_t i) { return factor * (x[i] - y[i]); });
}

}  // namespace heed::inline HEED_REAL::kernels
