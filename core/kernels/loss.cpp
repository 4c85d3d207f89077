#include "core/kernels/loss.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/kernels/lanes.h"
#include "core/kernels/map.h"
#include "core/kernels/vector_math.h"
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

}  // namespace

double cross_entropy_forward(const CrossEntropySizes& n, const TargetShares& p, const real* logits,
                             const int32_t* targets, real* shift, real* share) {
  constexpr real infinity = std::numeric_limits<real>::infinity();
  const auto row_loss = [=](int64_t i) -> double {
    if (targets[i] == n.ignored) return 0;
    const real* x = logits + i * n.classes;
    const real greatest = row_max(n.classes, x);
    shift[i] = greatest;
    share[i] = 0;
    if (greatest == -infinity) return infinity;  // all is -inf: whatever the target, its log is
    const real total = sum_of(n.classes, [=](int64_t v) { return exp(x[v] - greatest); });
    share[i] = 1 / total;
    double loss = 0;  // a class of no share may have a logit of -inf: 0 · inf would be NaN
    if (p.target > 0) loss = p.target * (double{greatest} - double{x[targets[i]]});
    if (p.other > 0)
      loss +=
          p.other * double{sum_of(n.classes, [=, target = targets[i], never = p.never](int64_t v) {
            const auto other = static_cast<int32_t>(v);
            return other == target || other == never ? 0 : greatest - x[v];
          })};
    return loss + std::log(double{total});
  };
  return sum_of_pieces(n.rows, chunk_rows(n.classes), [=](int64_t first, int64_t last) {
    double loss = 0;
    for (int64_t i = first; i < last; ++i) loss += row_loss(i);
    return loss;
  });
}

void cross_entropy_backward(const CrossEntropySizes& n, const TargetShares& p, real dy,
                            const real* logits, const int32_t* targets, const real* shift,
                            const real* share, Destination dlogits) {
  const real other = static_cast<real>(p.other) * dy;
  const real more_for_target = static_cast<real>(p.target - p.other) * dy;
  parallel_for(n.rows, chunk_rows(n.classes), [=](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const real* x = logits + i * n.classes;
      const Destination dx{dlogits.data + i * n.classes, dlogits.accumulate};
      // Rows that do not count, and rows of -inf, for which every share is 0.
      if (targets[i] == n.ignored || share[i] == 0) {
        map_range(0, n.classes, dx, [](int64_t) { return real{0}; });
        continue;
      }
      const real greatest = shift[i], factor = dy * share[i];
      map_range(0, n.classes, dx, [=](int64_t v) { return factor * exp(x[v] - greatest) - other; });
      dx.data[targets[i]] -= more_for_target;
      if (p.never >= 0) dx.data[p.never] += other;
    }
  });
}

double squared_distance(int64_t n, const real* x, const real* y) {
  return sum_of_pieces(n, chunk_elements, [=](int64_t first, int64_t last) {
    constexpr int64_t run = 1024;  // in real; the runs in double
    double total = 0;
    for (int64_t i = first; i < last; i += run) {
      const real *a = x + i, *b = y + i;
      total += double{sum_of(std::min(run, last - i),
                             [=](int64_t j) { return (a[j] - b[j]) * (a[j] - b[j]); })};
    }
    return total;
  });
}

void scaled_difference(int64_t n, real factor, const real* x, const real* y, Destination to) {
  map(n, to, [=](int64_t i) { return factor * (x[i] - y[i]); });
}

}  // namespace heed::inline HEED_REAL::kernels
