// Positional encodings: what φ(i)·φ(j) is, and what it should be.
#include <algorithm>
#include <cmath>

#include "lab/claims/claim.h"
#include "lab/claims/samples.h"
#include "nn/forms/positional.h"

namespace heed::claims {
namespace {

// φ(i)·φ(j) for all pairs of positions: (T, d) → (T, T).
Tensor position_products(const Tensor& phi) { return matmul(phi, transpose(phi, 0, 1)); }

double element(const Tensor& matrix, int64_t i, int64_t j) {
  return static_cast<double>(matrix.data()[i * matrix.dim(1) + j]);
}

// 8 columns of sinusoids after the 8 of a token.
PositionalEncoding concatenated_sinusoids() {
  return {16, {.combine = PositionalCombine::concat, .dim = 8}, 1};
}

// distance([x; φ]·[y; φ'], x·y + φ·φ'), or the same with x + φ and y + φ'.
double cross_terms(const PositionalEncoding& encode) {
  const Tensor x = normal(1, 20, 8);
  const Tensor zero = Tensor::zeros(x.shape());
  const auto pairs = [](const Tensor& y) { return position_products(y.reshape({20, y.dim(2)})); };
  return distance(pairs(encode(x)), pairs(x) + pairs(encode(zero)));
}

// φ(i)·φ(j) of bare integers, φ(i) = [i, i, i, i].
Tensor products_of_integers() {
  const PositionalEncoding encode(4, {&positional_encodings::integer}, 1);
  return position_products(encode(Tensor::zeros({1, 10, 4})).reshape({10, 4}));
}

// max |φ(i)·φ(i + gap) - φ(0)·φ(gap)|
double max_change_with_position(const Tensor& p) {
  const int64_t length = p.dim(0);
  return max_of(length, [&](int64_t gap) {
    return max_of(length - gap,
                  [&](int64_t i) { return std::abs(element(p, i, i + gap) - element(p, 0, gap)); });
  });
}

// max |φ(i)·φ(j) - exp(-λ (i - j)²)| over 32 positions, λ = 0.02, for the first terms of the
// series.
double error_of_series(int64_t terms) {
  const PositionalOptions o{
      .kind = &positional_encodings::gaussian, .max_length = 32, .lambda = 0.02, .terms = terms};
  const Tensor p = position_products(o.kind->table(32, 2 * terms, o));
  return max_of(32 * 32, [&](int64_t n) {
    const auto gap = static_cast<double>(n / 32 - n % 32);
    return std::abs(element(p, n / 32, n % 32) - std::exp(-o.lambda * gap * gap));
  });
}

}  // namespace

const std::vector<Claim> topics::positions = {
    {"A45", by_construction, "S4",
     "concatenated positions leave the columns of the token unchanged",
     [] {
       const Tensor x = normal(1, 20, 8);
       return distance(slice(concatenated_sinusoids()(x), 2, 0, 8), x);
     }},
    {"A45", equal, "S4", "concatenated: [x; φ]·[y; φ'] = x·y + φ·φ'",
     [] { return cross_terms(concatenated_sinusoids()); }},
    {"A45", differs, "the paper", "added: the terms x·φ' and φ·y join them",
     [] {
       return cross_terms({8, {&positional_encodings::sinusoidal}, 1});
     }},
    {"A46", equal, "S4", "bare integers: φ(i)·φ(j) = i · j in each column",
     [] {
       const Tensor p = products_of_integers();
       return max_of(100, [&](int64_t n) {
         const int64_t i = n / 10, j = n % 10;
         return std::abs(element(p, i, j) - static_cast<double>(4 * i * j));
       });
     }},
    {"A46", at_least(2), "S4", "… so φ(2)·φ(9) is larger than φ(2)·φ(2) (ratio)",
     [] {
       const Tensor p = products_of_integers();
       return element(p, 2, 9) / element(p, 2, 2);
     }},
    {"A46", at_most(1e-4), "S4", "sinusoids: φ(i)·φ(i) = d/2 at 200 positions, d = 64",
     [] {
       const Tensor p = position_products(sinusoidal_positions(200, 64));
       return max_of(200, [&](int64_t i) { return std::abs(element(p, i, i) - 32); });
     }},
    {"A46", at_most(2e-4), "S4",
     "sinusoids: φ(i)·φ(j) depends only on i - j, for all pairs of 200 positions",
     [] { return max_change_with_position(position_products(sinusoidal_positions(200, 64))); }},
    {"A46", differs, "S4", "… which is not true of integers (relative)",
     [] {
       const Tensor p = products_of_integers();
       return max_change_with_position(p) / element(p, 9, 9);
     }},
    {"A46", at_most(1e-3), "S4",
     "d = 64: 32, 30.917, 28.304, 25.587 at distances 0 to 3, 23.504 at 5",
     [] {
       const Tensor p = position_products(sinusoidal_positions(20, 64));
       const std::pair<int64_t, double> expected[] = {
           {0, 32}, {1, 30.917}, {2, 28.304}, {3, 25.587}, {5, 23.504}};
       return max_over(expected, [&](const auto& row) {
         const auto& [gap, product] = row;
         return std::max(std::abs(element(p, 0, gap) - product),
                         std::abs(element(p, 10, 10 + gap) - product));
       });
     }},
    {"A47", at_most(1e-4), "S4", "φ(i)·φ(j) is the Fourier series Σ cos ωₖ(i - j), d = 64",
     [] {
       const Tensor p = position_products(sinusoidal_positions(50, 64));
       return max_of(50, [&](int64_t gap) {
         double series = 0;
         for (int k = 0; k < 32; ++k)
           series += std::cos(static_cast<double>(gap) * std::pow(10000.0, -k / 32.0));
         return std::abs(element(p, 0, gap) - series);
       });
     }},
    {"A47", at_most(1e-5), "S4",
     "12 terms of its series give φ(i)·φ(j) = exp(-λ(i - j)²) over 32 positions, λ = 0.02",
     [] { return error_of_series(12); }},
    {"A47", differs, "S4", "… 4 terms do not", [] { return error_of_series(4); }},
};

}  // namespace heed::claims
