// Checks bfloat16 matrix products against double: random operands, and error bounds.
#pragma once

#include <cstdint>
#include <vector>

#include "core/kernels/bfloat16/bfloat16.h"
#include "core/kernels/bfloat16/tile_product.h"
#include "software_tiles.h"
#include "test_matrix.h"

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

// Returns the largest error of a result relative to its bound: `bound` · (|a| |b|)ᵢⱼ for an
// element, and `bound` · ‖a‖ ‖b‖ for the whole in the Frobenius norm, plus the float32 rounding of
// adding c and the bias. With `rounded`, the operands are first rounded to bfloat16.
double worst_error(const Product& p, const TestMatrix& got, double bound, bool rounded = false);

// Checks a product of normally distributed values: `high` to 1e-5, or to the worst error of a term,
// 2^-15, if there are fewer than 16; `medium` against the rounded operands.
void check_product(const TileKernels& tiles, const Product& p);
// The same for `count` random products with sides of up to `size`.
void check_products(const TileKernels& tiles, uint64_t seed, int count, int64_t size);

}  // namespace heed::inline HEED_REAL::testing
