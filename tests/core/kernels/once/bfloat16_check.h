// Checks bfloat16 matrix products against double: random operands, and error bounds.
#pragma once

#include <cstdint>
#include <vector>

#include "core/kernels/bfloat16/bfloat16.h"
#include "core/kernels/bfloat16/tile_product.h"
#include "core/test_matrix.h"
#include "software_tiles.h"

namespace heed::inline HEED_REAL::testing {

using kernels::MatrixView;
using kernels::TileKernels;

// The kernels on the definition of the tile instructions.
inline constexpr TileKernels software_tiles = kernels::TileProduct<SoftwareTiles>::kernels;

// These, and those whose instructions this processor has.
std::vector<const TileKernels*> runnable_kernels();

// A random product c = scale · a b + bias (+ c).
struct Product {
  TestMatrix a, b, c;
  float scale = 1;
  bool accumulate = false;
  std::vector<float> bias{};  // empty for none

  Product(Draw& draw, int64_t m, int64_t n, int64_t k);

  kernels::GemmOptions options() const {
    return {c.leading, scale, bias.empty() ? nullptr : bias.data()};
  }
  TestMatrix on(const TileKernels& tiles, Precision precision) const;
  TestMatrix highest() const;
};

// Returns the largest error of an element relative to its bound, which has three parts:
//   `of_terms` · √(Σₖ (aᵢₖ bₖⱼ)²) for what the precision leaves out of every term
//   1e-6 · Σₖ |aᵢₖ bₖⱼ|           for the summation in float32
//   2^-22 · (|cᵢⱼ| + |biasⱼ|)     for the addition of both
// With `rounded`, the operands are first rounded to bfloat16.
double worst_error(const Product& p, const TestMatrix& got, double of_terms, bool rounded = false);

// Checks a product: `high` with `of_terms` = 2^-15, and `medium` against the rounded operands, with
// `of_terms` = 0.
//
// `high` splits an operand into two bfloat16 and a rest: |lo| ≤ 2^-8 |x|, |rest| ≤ 2^-17 |x|. A
// term lacks loₐ loᵦ, at most 2^-16 |a b|, and each rest times the other operand, 2^-17 |a b|: in
// all at most 2^-15 |a b|. An element is therefore exact to 2^-15 Σ |a b|, and the summation, for
// any operands. The signs of the errors are random and most errors much smaller, so they add up as
// the root of a sum of squares: a bound that is the same for one term and grows tighter with more.
void check_product(const TileKernels& tiles, const Product& p);
// The same for `count` random products with sides of up to `size`.
void check_products(const TileKernels& tiles, uint64_t seed, int count, int64_t size);

}  // namespace heed::inline HEED_REAL::testing
