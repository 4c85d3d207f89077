// Where a token stands: what φ(i)·φ(j) says, and what it should.
#include <algorithm>
#include <cmath>

#include "nn/positional.h"
#include "theorems/samples.h"
#include "theorems/theorem.h"

namespace heed::theorems {
namespace {

// φ(s)·φ(t) of every two places.
Tensor products(const Tensor& positions) { return matmul(positions, transpose(positions, 0, 1)); }

double at(const Tensor& matrix, int64_t i, int64_t j) {
  return static_cast<double>(matrix.data()[i * matrix.dim(1) + j]);
}

PositionalEncoding encoding(PositionalKind kind, int64_t dim, int64_t concatenated = 0) {
  PositionalOptions options;
  options.kind = kind;
  if (concatenated > 0) {
    options.combine = PositionalCombine::concat;
    options.dim = concatenated;
  }
  return {dim, options, 1};
}

// [x; φ]·[y; φ'] - x·y - φ·φ', or the same of sums, over the root of its size.
double cross_terms(bool concatenated) {
  const Tensor x = normal({1, 20, 8});
  const Tensor zero = Tensor::zeros(x.shape());
  const PositionalEncoding encode =
      encoding(PositionalKind::sinusoidal, concatenated ? 16 : 8, concatenated ? 8 : 0);
  const auto pairs = [](const Tensor& y) { return products(y.reshape({20, y.dim(2)})); };
  return distance(pairs(encode(x)), pairs(x) + pairs(encode(zero)));
}

void combination(Measurements& m) {
  m.at_most("A45", 0, "S4", "concatenated positions leave a token's own columns as they are", [] {
    const Tensor x = normal({1, 20, 8});
    return distance(slice(encoding(PositionalKind::sinusoidal, 16, 8)(x), 2, 0, 8), x);
  });
  m.at_most("A45", rounding, "S4", "concatenated: [x; φ]·[y; φ'] = x·y + φ·φ'",
            [] { return cross_terms(true); });
  m.at_least("A45", different, "the paper", "added: x·φ' and φ·y join them",
             [] { return cross_terms(false); });
}

double spread_over_places(const Tensor& p, int64_t length) {
  double most = 0;
  for (int64_t gap = 0; gap < length; ++gap)
    for (int64_t i = 0; i + gap < length; ++i)
      most = std::max(most, std::abs(at(p, i, i + gap) - at(p, 0, gap)));
  return most;
}

void sinusoids(Measurements& m) {
  m.at_most("A46", rounding, "S4", "the bare number: φ(i)·φ(j) = i · j, in each column", [] {
    const Tensor phi =
        encoding(PositionalKind::integer, 4)(Tensor::zeros({1, 10, 4})).reshape({10, 4});
    std::vector<double> wanted;
    for (int64_t i = 0; i < 100; ++i)
      wanted.push_back(static_cast<double>(4 * (i / 10) * (i % 10)));
    return greatest_difference(products(phi), wanted);
  });
  m.at_least("A46", 2, "S4", "… so that place 2 is nearer to 9 than to itself, so many times", [] {
    const Tensor phi =
        encoding(PositionalKind::integer, 4)(Tensor::zeros({1, 10, 4})).reshape({10, 4});
    const Tensor p = products(phi);
    return at(p, 2, 9) / at(p, 2, 2);
  });
  m.at_most("A46", 1e-4, "S4", "sinusoids: φ(i)·φ(i) = d/2 at 200 places, d = 64", [] {
    const Tensor p = products(sinusoidal_positions(200, 64));
    double most = 0;
    for (int64_t i = 0; i < 200; ++i) most = std::max(most, std::abs(at(p, i, i) - 32));
    return most;
  });
  m.at_most("A46", 2e-4, "S4",
            "sinusoids: φ(i)·φ(j) depends on i - j alone, all pairs of 200 places",
            [] { return spread_over_places(products(sinusoidal_positions(200, 64)), 200); });
  m.at_least("A46", different, "S4", "… which the bare number's does not (relative)", [] {
    const Tensor phi =
        encoding(PositionalKind::integer, 4)(Tensor::zeros({1, 10, 4})).reshape({10, 4});
    const Tensor p = products(phi);
    return spread_over_places(p, 10) / at(p, 9, 9);
  });
  m.at_most("A46", 1e-3, "S4", "d = 64: 32, 30.917, 28.304, 25.587 at gaps 0 to 3, 23.504 at 5",
            [] {
              const Tensor p = products(sinusoidal_positions(20, 64));
              const std::vector<std::pair<int64_t, double>> wanted = {
                  {0, 32}, {1, 30.917}, {2, 28.304}, {3, 25.587}, {5, 23.504}};
              double most = 0;
              for (const int64_t i : {0, 10})
                for (const auto& [gap, product] : wanted)
                  most = std::max(most, std::abs(at(p, i, i + gap) - product));
              return most;
            });
}

constexpr double lambda = 0.02, pi = 3.14159265358979323846;
constexpr int64_t period = 64;

double ideal(int64_t gap) {
  const auto g = static_cast<double>(std::min(gap, period - gap));  // around a ring
  return std::exp(-lambda * g * g);
}

// The greatest error of the first terms of the kernel's Fourier series, which is φ(i)·φ(j) for
// φ(i) = [√aₖ sin 2πki/period, √aₖ cos 2πki/period].
double error_of_series(int64_t terms) {
  std::vector<double> a;
  for (int64_t k = 0; k < terms; ++k) {
    double sum = 0;
    for (int64_t g = 0; g < period; ++g)
      sum += ideal(g) * std::cos(2 * pi * static_cast<double>(k * g) / period);
    a.push_back((k == 0 ? 1 : 2) * sum / static_cast<double>(period));
  }
  Tensor phi = Tensor::empty({period, 2 * terms});
  for (int64_t i = 0; i < period; ++i)
    for (int64_t c = 0; c < 2 * terms; ++c) {
      const double angle = 2 * pi * static_cast<double>(c / 2 * i) / period;
      const double root = std::sqrt(std::max(0.0, a[static_cast<size_t>(c / 2)]));
      phi.mutable_data()[i * 2 * terms + c] =
          static_cast<real>(root * (c % 2 ? std::cos(angle) : std::sin(angle)));
    }
  const Tensor p = products(phi);
  double most = 0;
  for (int64_t i = 0; i < period; ++i)
    for (int64_t j = 0; j < period; ++j)
      most = std::max(most, std::abs(at(p, i, j) - ideal(std::abs(i - j))));
  return most;
}

void kernels(Measurements& m) {
  m.at_most("A47", 1e-4, "S4", "φ(i)·φ(j) is a Fourier series, Σ cos ωₖ(i - j), d = 64", [] {
    const Tensor p = products(sinusoidal_positions(50, 64));
    double most = 0;
    for (int64_t gap = 0; gap < 50; ++gap) {
      double series = 0;
      for (int k = 0; k < 32; ++k)
        series += std::cos(static_cast<double>(gap) * std::pow(10000.0, -k / 32.0));
      most = std::max(most, std::abs(at(p, 0, gap) - series));
    }
    return most;
  });
  m.at_most("A47", 1e-5, "S4", "12 terms are the kernel exp(-λ(i - j)²) on a ring of 64, λ = 0.02",
            [] { return error_of_series(12); });
  m.at_least("A47", different, "S4", "… 4 terms are not yet", [] { return error_of_series(4); });
}

}  // namespace

void measure_positions(Measurements& m) {
  m.section("Positions");
  combination(m);
  sinusoids(m);
  kernels(m);
}

}  // namespace heed::theorems
