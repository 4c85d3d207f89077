// Products in bfloat16 held against double: random operands, and how far a result may be off.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/kernels/bfloat16/bfloat16.h"
#include "core/kernels/bfloat16/tile_product.h"
#include "core/random.h"
#include "software_tiles.h"

namespace heed::inline HEED_REAL::testing {

using kernels::Matrix;
using kernels::TileKernels;

// The kernel on the definition of its instructions.
inline constexpr TileKernels software_tiles = kernels::TileProduct<SoftwareTiles>::kernels;

class Draw {
 public:
  explicit Draw(uint64_t seed) : numbers_(seed, Purpose::test) {}
  float operator()() { return static_cast<float>(numbers_.normal()); }
  float wide();  // the same, times 2^-6 … 2^6
  int64_t below(int64_t n) {
    return static_cast<int64_t>(numbers_.below(static_cast<uint64_t>(n)));
  }

 private:
  Random numbers_;
};

// A matrix of NaN, with `room` between its rows (or, transposed, its columns).
struct Numbers {
  int64_t rows, columns;
  bool transposed;
  int64_t leading;
  std::vector<float> values;

  Numbers(int64_t rows_, int64_t columns_, bool transposed_ = false, int64_t room = 0)
      : rows(rows_),
        columns(columns_),
        transposed(transposed_),
        leading((transposed_ ? rows_ : columns_) + room),
        values(static_cast<size_t>(leading * (transposed_ ? columns_ : rows_)),
               std::numeric_limits<float>::quiet_NaN()) {}

  float& at(int64_t i, int64_t j) { return values[place(i, j)]; }
  float at(int64_t i, int64_t j) const { return values[place(i, j)]; }
  template <class F>
  Numbers& fill(F f) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) at(i, j) = f();
    return *this;
  }
  Matrix matrix() const {
    return transposed ? Matrix(values.data(), columns, rows, leading).t()
                      : Matrix(values.data(), rows, columns, leading);
  }
  Destination to(bool accumulate) { return {values.data(), accumulate}; }

 private:
  size_t place(int64_t i, int64_t j) const {
    return static_cast<size_t>(transposed ? j * leading + i : i * leading + j);
  }
};

// c = scale · a b + bias (+ c), with all of its choices made at random.
struct Product {
  Numbers a, b, c;
  float scale = 1;
  bool accumulate = false;
  std::vector<float> bias{};  // empty for none

  Product(Draw& draw, int64_t m, int64_t n, int64_t k);

  kernels::GemmOptions options() const {
    return {c.leading, scale, bias.empty() ? nullptr : bias.data()};
  }
  Numbers on(const TileKernels& tiles, Precision precision) const;
  Numbers highest() const;
};

// The worst of the errors of a result, in units of what is allowed: of an element `bound` times
// (|a| |b|)ᵢⱼ, of the whole, in Frobenius' norm, `bound` ‖a‖ ‖b‖; and where c and the bias are
// added, float32's own rounding. With `rounded`, the operands are first rounded to bfloat16.
double worst_error(const Product& p, const Numbers& got, double bound, bool rounded = false);

// Of a product of normal numbers: `high` to 1e-5, but where there are fewer than 16 terms and the
// worst error of one (2^-15) shows; `medium` against the rounded operands.
void check_product(const TileKernels& tiles, const Product& p);
// The same for `count` products, their sides of up to `size`.
void check_products(const TileKernels& tiles, uint64_t seed, int count, int64_t size);

}  // namespace heed::inline HEED_REAL::testing
