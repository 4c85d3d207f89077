// Random matrices for tests of matrix products.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/kernels/gemm/view.h"
#include "core/random.h"

namespace heed::inline HEED_REAL::testing {

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed, Purpose::test) {}
  real operator()() { return static_cast<real>(random_.normal()); }
  // A normal value times 2^-6 … 2^6.
  real wide() { return std::ldexp((*this)(), static_cast<int>(below(13)) - 6); }
  int64_t below(int64_t n) { return static_cast<int64_t>(random_.below(static_cast<uint64_t>(n))); }
  int64_t up_to(int64_t n) { return 1 + below(n); }
  bool flip() { return below(2) != 0; }

 private:
  Random random_;
};

// A matrix of NaN, with `padding` elements between its rows (or, if transposed, its columns), which
// kernels must not read.
struct TestMatrix {
  int64_t rows, columns;
  bool transposed;
  int64_t leading;
  std::vector<real> values;

  TestMatrix(int64_t rows_, int64_t columns_, bool transposed_ = false, int64_t padding = 0)
      : rows(rows_),
        columns(columns_),
        transposed(transposed_),
        leading((transposed_ ? rows_ : columns_) + padding),
        values(static_cast<size_t>(leading * (transposed_ ? columns_ : rows_)),
               std::numeric_limits<real>::quiet_NaN()) {}

  real& at(int64_t i, int64_t j) { return values[index(i, j)]; }
  real at(int64_t i, int64_t j) const { return values[index(i, j)]; }
  template <class F>
  TestMatrix& fill(F&& f) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) at(i, j) = f();
    return *this;
  }
  kernels::MatrixView matrix() const {
    return transposed ? kernels::MatrixView(values.data(), columns, rows, leading).t()
                      : kernels::MatrixView(values.data(), rows, columns, leading);
  }
  Destination to(bool accumulate) { return {values.data(), accumulate}; }

 private:
  size_t index(int64_t i, int64_t j) const {
    return static_cast<size_t>(transposed ? j * leading + i : i * leading + j);
  }
};

}  // namespace heed::inline HEED_REAL::testing
