#include <algorithm>
#include <utility>

#include "core/kernels/simd/vector.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

// One step of the transpose of a square, whose element (i, j) is lane j of vector i: exchanges the
// off-diagonal blocks, those where i and j differ in bit `bit`.
template <int bit, int... j>
void exchange_blocks(Vector (&square)[lanes], std::integer_sequence<int, j...>) {
#pragma GCC unroll 16
  for (int i = 0; i < lanes; ++i)
    if (!(i & bit)) {
      const Vector upper = square[i], lower = square[i | bit];
      square[i] = __builtin_shufflevector(upper, lower, (j & bit ? lanes + (j ^ bit) : j)...);
      square[i | bit] = __builtin_shufflevector(upper, lower, (j & bit ? lanes + j : j ^ bit)...);
    }
}

void transpose_square(Vector (&square)[lanes]) {
  constexpr auto columns = std::make_integer_sequence<int, lanes>();
  exchange_blocks<1>(square, columns);
  if constexpr (lanes > 2) exchange_blocks<2>(square, columns);
  if constexpr (lanes > 4) exchange_blocks<4>(square, columns);
  if constexpr (lanes > 8) exchange_blocks<8>(square, columns);
}

}  // namespace

void transpose(int64_t rows, int64_t columns, const real* from, int64_t leading_from, real* to,
               int64_t leading_to) {
  for (int64_t i = 0; i < rows; i += lanes) {
    const real* row[lanes];
    for (int64_t l = 0; l < lanes; ++l) row[l] = from + std::min(i + l, rows - 1) * leading_from;
    int64_t j = 0;
    for (; j + lanes <= columns; j += lanes) {
      Vector square[lanes];
#pragma GCC unroll 16
      for (int64_t l = 0; l < lanes; ++l) square[l] = load(row[l] + j);
      transpose_square(square);
#pragma GCC unroll 16
      for (int64_t l = 0; l < lanes; ++l) store(to + (j + l) * leading_to + i, square[l]);
    }
    for (; j < columns; ++j)
      for (int64_t l = 0; l < lanes; ++l) to[j * leading_to + i + l] = row[l][j];
  }
}

}  // namespace heed::inline HEED_REAL::kernels
