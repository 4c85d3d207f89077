// The transpose kernel against its definition.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "core/kernels/simd/vector.h"

namespace heed::inline HEED_REAL {
namespace {

TEST_CASE("transpose: every size, and no write beyond whole vectors") {
  constexpr int64_t longest = 40, leading_from = longest + 3, leading_to = 64;
  std::vector<real> from(longest * leading_from);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<real>(i);
  for (int64_t rows = 1; rows <= longest; ++rows)
    for (int64_t columns = 1; columns <= longest; ++columns) {
      std::vector<real> to(static_cast<size_t>(columns * leading_to), real{-1});
      kernels::transpose(rows, columns, from.data(), leading_from, to.data(), leading_to);
      int64_t wrong = 0;
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = 0; i < leading_to; ++i) {
          const bool inside = i < kernels::whole_vectors(rows);
          const int64_t row = std::min(i, rows - 1);
          wrong += to[static_cast<size_t>(j * leading_to + i)] !=
                   (inside ? from[static_cast<size_t>(row * leading_from + j)] : real{-1});
        }
      CHECK(wrong == 0);
    }
}

}  // namespace
}  // namespace heed::inline HEED_REAL
