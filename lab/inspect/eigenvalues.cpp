#include "lab/inspect/eigenvalues.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.h"

namespace heed {
namespace {

using Complex = std::complex<double>;

// A complex square matrix.
struct Square {
  int n;
  std::vector<Complex> values;
  Complex& operator()(int i, int j) { return values[static_cast<size_t>(i) * n + j]; }
};

// Zeros below the first subdiagonal, by elimination with pivots: a similar matrix.
void to_hessenberg(Square& a) {
  for (int k = 1; k < a.n - 1; ++k) {
    int pivot = k;
    for (int i = k; i < a.n; ++i)
      if (std::abs(a(i, k - 1)) > std::abs(a(pivot, k - 1))) pivot = i;
    if (a(pivot, k - 1) == 0.0) continue;
    for (int j = 0; j < a.n; ++j) std::swap(a(pivot, j), a(k, j));
    for (int i = 0; i < a.n; ++i) std::swap(a(i, pivot), a(i, k));
    for (int i = k + 1; i < a.n; ++i) {
      const Complex factor = a(i, k - 1) / a(k, k - 1);
      for (int j = 0; j < a.n; ++j) a(i, j) -= factor * a(k, j);
      for (int j = 0; j < a.n; ++j) a(j, k) += factor * a(j, i);
    }
  }
}

// The eigenvalue of the last 2 × 2 block of rows up to `last` that is closer to its last element.
Complex shift_of(Square& a, int last) {
  const Complex p = a(last - 1, last - 1), q = a(last, last);
  const Complex half = (p - q) / 2.0;
  const Complex root = std::sqrt(half * half + a(last - 1, last) * a(last, last - 1));
  const Complex mean = (p + q) / 2.0;
  return std::abs(mean + root - q) < std::abs(mean - root - q) ? mean + root : mean - root;
}

// a - s = Q R, then a = R Q + s, for rows and columns first … last.
void qr_step(Square& a, int first, int last, Complex s) {
  std::vector<std::pair<Complex, Complex>> rotations;
  for (int i = first; i <= last; ++i) a(i, i) -= s;
  for (int k = first; k < last; ++k) {
    const Complex x = a(k, k), y = a(k + 1, k);
    const double length = std::hypot(std::abs(x), std::abs(y));
    const Complex c = length > 0 ? x / length : 1.0, d = length > 0 ? y / length : 0.0;
    rotations.emplace_back(c, d);
    for (int j = k; j <= last; ++j) {
      const Complex u = a(k, j), v = a(k + 1, j);
      a(k, j) = std::conj(c) * u + std::conj(d) * v;
      a(k + 1, j) = -d * u + c * v;
    }
  }
  for (int k = first; k < last; ++k) {
    const auto [c, d] = rotations[static_cast<size_t>(k - first)];
    for (int i = first; i <= std::min(k + 1, last); ++i) {
      const Complex u = a(i, k), v = a(i, k + 1);
      a(i, k) = u * c + v * d;
      a(i, k + 1) = -u * std::conj(d) + v * std::conj(c);
    }
  }
  for (int i = first; i <= last; ++i) a(i, i) += s;
}

}  // namespace

std::vector<Complex> eigenvalues(const std::vector<double>& matrix, int n) {
  Square a{n, {matrix.begin(), matrix.end()}};
  to_hessenberg(a);
  double norm = 0;
  for (const Complex& value : a.values) norm = std::max(norm, std::abs(value));
  const double tiny = norm * std::numeric_limits<double>::epsilon();
  int steps = 0;
  for (int last = n - 1; last > 0;) {
    int first = last;
    while (first > 0 && std::abs(a(first, first - 1)) > tiny) --first;
    if (first == last) {
      --last;
      steps = 0;
      continue;
    }
    check(++steps < 300, "eigenvalues: no convergence for a matrix of {} rows", n);
    const Complex exceptional = a(last, last) + std::abs(a(last, last - 1));
    qr_step(a, first, last, steps % 10 ? shift_of(a, last) : exceptional);
  }
  std::vector<Complex> found;
  for (int i = 0; i < n; ++i) found.push_back(a(i, i));
  return found;
}

}  // namespace heed
