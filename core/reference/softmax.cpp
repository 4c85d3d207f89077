// Softmax and log softmax along the middle axis of x (outer, length, inner), and their gradients.
#include "core/reference/reference.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

// Calls f(at) for each vector along the axis; its elements are x[at(k)], k < length.
template <class F>
void for_each_vector_along(const AlongAxis& n, F f) {
  for (int64_t o = 0; o < bound(n.outer); ++o)
    for (int64_t i = 0; i < n.inner; ++i)
      f([&](int64_t k) { return (o * n.length + k) * n.inner + i; });
}

}  // namespace

// y[k] = exp(x[k]) / Σⱼ exp(x[j]); all zeros if all x[k] are -inf
void softmax_forward(const AlongAxis& n, const real* x, real* y) {
  for_each_vector_along(n, [&](auto at) {
    const SumExp total = sum_exp(n.length, [&](int64_t k) { return x[at(k)]; });
    for (int64_t k = 0; k < n.length; ++k) y[at(k)] = total.softmax(x[at(k)]);
  });
}

// dx[k] = y[k] (dy[k] − Σⱼ dy[j] y[j])
void softmax_backward(const AlongAxis& n, const real* dy, const real* y, Destination dx) {
  for_each_vector_along(n, [&](auto at) {
    double dot = 0;
    for (int64_t k = 0; k < n.length; ++k) dot += double{dy[at(k)]} * y[at(k)];
    for (int64_t k = 0; k < n.length; ++k) write(dx, at(k), y[at(k)] * (dy[at(k)] - dot));
  });
}

// y[k] = x[k] − log Σⱼ exp(x[j]); all -inf if all x[k] are -inf
void log_softmax_forward(const AlongAxis& n, const real* x, real* y) {
  for_each_vector_along(n, [&](auto at) {
    const SumExp total = sum_exp(n.length, [&](int64_t k) { return x[at(k)]; });
    for (int64_t k = 0; k < n.length; ++k)
      y[at(k)] = total.sum == 0 ? -INFINITY : x[at(k)] - total.log();
  });
}

// dx[k] = dy[k] − exp(y[k]) Σⱼ dy[j]; all zeros if all y[k] are -inf
void log_softmax_backward(const AlongAxis& n, const real* dy, const real* y, Destination dx) {
  for_each_vector_along(n, [&](auto at) {
    double total = 0;
    bool all_hidden = true;
    for (int64_t k = 0; k < n.length; ++k) {
      total += dy[at(k)];
      all_hidden = all_hidden && y[at(k)] == -INFINITY;
    }
    for (int64_t k = 0; k < n.length; ++k)
      write(dx, at(k), all_hidden ? 0 : dy[at(k)] - std::exp(double{y[at(k)]}) * total);
  });
}

// The other normalisers, of the rows of x (rows, width).

// y[i] = 1 / (number of maxima) if x[i] is the maximum of its row, else 0. A row that is all -inf
// gives zeros; a row with a NaN gives NaN.
void hardmax(const Rows& sizes, const real* x, real* y) {
  const auto [rows, width] = sizes;
  for (int64_t n = 0; n < bound(rows); ++n) {
    const real* row = x + n * width;
    real* to = y + n * width;
    double maximum = -INFINITY, nan = 0;  // nan: 0, or NaN if there is one
    for (int64_t i = 0; i < width; ++i) {
      maximum = std::max(maximum, double{row[i]});
      if (std::isnan(row[i])) nan = row[i];
    }
    int64_t maxima = 0;
    for (int64_t i = 0; i < width; ++i) maxima += row[i] == maximum;
    for (int64_t i = 0; i < width; ++i)
      to[i] = nan + (row[i] == maximum && maximum != -INFINITY ? 1.0 / maxima : 0.0);
  }
}

// sum = Σᵢ x[i],  y[i] = x[i] / sum. Where sum ≤ least, sum and y are 0.
void sum_normalize_forward(const Rows& sizes, real least, const real* x, real* y, real* sums) {
  const auto [rows, width] = sizes;
  for (int64_t n = 0; n < bound(rows); ++n) {
    const real* row = x + n * width;
    real* to = y + n * width;
    double sum = 0;
    for (int64_t i = 0; i < width; ++i) sum += row[i];
    const bool too_small = sum <= least;
    for (int64_t i = 0; i < width; ++i) to[i] = too_small ? 0 : row[i] / sum;
    sums[n] = too_small ? 0 : sum;
  }
}

// dx[i] = (dy[i] − Σⱼ dy[j] y[j]) / sum, 0 where sum is 0
void sum_normalize_backward(const Rows& sizes, const real* dy, const real* y, const real* sums,
                            Destination dx) {
  const auto [rows, width] = sizes;
  for (int64_t n = 0; n < bound(rows); ++n) {
    double dot = 0;
    for (int64_t i = 0; i < width; ++i) dot += double{dy[n * width + i]} * y[n * width + i];
    for (int64_t i = 0; i < width; ++i)
      write(dx, n * width + i, sums[n] == 0 ? 0 : (dy[n * width + i] - dot) / sums[n]);
  }
}

}  // namespace heed::inline HEED_REAL::kernels
