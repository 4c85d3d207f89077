#include <cstdint>

#include "core/real.h"

namespace heed::course {

// c[i, j] += Σₚ a[i, p] b[p, j] for i < 6, j < 16, p < k. Rows of a and c begin every leading_a and
// leading_c elements, rows of b every 16.
void multiply_tile(int64_t k, const real* a, int64_t leading_a, const real* b, real* c,
                   int64_t leading_c) {
  typedef real Row
      __attribute__((vector_size(16 * sizeof(real)), aligned(sizeof(real)), may_alias));
  Row sum[6] = {};
  for (int64_t p = 0; p < k; ++p) {
    const Row row = *reinterpret_cast<const Row*>(b + 16 * p);
    for (int i = 0; i < 6; ++i) sum[i] += a[i * leading_a + p] * row;
  }
  for (int i = 0; i < 6; ++i) *reinterpret_cast<Row*>(c + i * leading_c) += sum[i];
}

}  // namespace heed::course
