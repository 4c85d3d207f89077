// Checks bfloat16 matrix products against double: random operands, and error bounds.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/kernels/bfloat16/bfloat16.h"
#include "core/kernels/bfloat16/tile_product.h"
#include "core/random.h"
#include "software_tiles.h"

namespace heed::inline HEED_REAL::testing {

using kernels::MatrixView;
using kernels::TileKernels;

// The kernels on the definition of the tile instructions.
inline constexpr TileKernels software_tiles = kernels::TileProduct<SoftwareTiles>::kernels;

// These, and those whose instructions this processor has.
std::vector<const TileKernels*> runnable_kernels();

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed, Purpose::test) {}
  float operator()() { return static_cast<float>(random_.normal()); }
  float wide();  // a normal value times 2^-6 … 2^6
  int64_t below(int64_t n) { return static_cast<int64_t>(random_.below(static_cast<uint64_t>(n))); }

 private:
  Random random_;
};

// A matrix of NaN, with `padding` elements between its rows (or, if transposed, its columns).
struct TestMatrix {
  int64_t rows, columns;
  bool transposed;
  int64_t leading;
  std::vector<float> values;

  TestMatrix(int64_t rows_, int64_t columns_, bool transposed_ = false, int64_t padding = 0)
      : rows(rows_),
        columns(columns_),
        transposed(transposed_),
        leading((transposed_ ? rows_ : columns_) + padding),
        values(static_cast<size_t>(leading * (transposed_ ? columns_ : rows_)),
               std::numeric_limits<float>::quiet_NaN()) {}

  float& at(int64_t i, int64_t j) { return values[index(i, j)]; }
  float at(int64_t i, int64_t j) const { return values[index(i, j)]; }
  template <class F>
  TestMatrix& fill(F f) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) at(i, j) = f();
    return *this;
  }
  MatrixView matrix() const {
    return transposed ? MatrixView(values.data(), columns, rows, leading).t()
                      : MatrixView(values.data(), rows, columns, leading);
  }
  Destination to(bool accumulate) { return {values.data(), accumulate}; }

 private:
  size_t index(int64_t i, int64_t j) const {
    return static_cast<size_t>(transposed ? j * leading + i : i * leading + j);
  }
};

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
