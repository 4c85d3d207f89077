#include <cmath>

#include "core/kernels/kernels.h"
#include "core/parallel.h"

namespace heed::inline HEED_REAL::kernels {

// Rotates the pairs of one head: pair k is columns k · step and k · step + distance. `step` is a
// constant at compile time, so that the loop is vectorized.
template <int64_t step, bool accumulate>
static void rotate_head(int64_t pairs, int64_t distance, real direction, const real* __restrict c,
                        const real* __restrict s, const real* __restrict x, real* __restrict y) {
  if constexpr (step == 2) distance = 1;
  for (int64_t k = 0; k < pairs; ++k) {
    const int64_t i = k * step, j = i + distance;
    const real sin = direction * s[k];
    const real first = x[i] * c[k] - x[j] * sin, second = x[i] * sin + x[j] * c[k];
    y[i] = accumulate ? y[i] + first : first;
    y[j] = accumulate ? y[j] + second : second;
  }
}

// Angles are computed in double: in float, the error at position 10,000 would be 1e-3.
void rotary_angles(const RotarySizes& n, double base, int64_t first, real* cosine, real* sine) {
  const int64_t pairs = n.width / 2;
  constexpr int64_t cost = 32;  // of a sine and a cosine, relative to an addition
  parallel_for(pairs, chunk_rows(cost * n.time), [=](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const double frequency =
          std::pow(base, -2 * static_cast<double>(k) / static_cast<double>(n.width));
      for (int64_t t = 0; t < n.time; ++t) {
        const double angle = static_cast<double>(first + t) * frequency;
        cosine[t * pairs + k] = static_cast<real>(std::cos(angle));
        sine[t * pairs + k] = static_cast<real>(std::sin(angle));
      }
    }
  });
}

void rotate(const RotarySizes& n, real direction, const real* cosine, const real* sine,
            const real* x, Destination to) {
  const int64_t pairs = n.width / 2, row_width = n.heads * n.width;
  const auto head = n.interleaved   ? to.accumulate ? rotate_head<2, true> : rotate_head<2, false>
                      : to.accumulate ? rotate_head<1, true>
                                    : rotate_head<1, false>;
  parallel_for(n.batch * n.time, chunk_rows(row_width), [=](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const int64_t angles = row % n.time * pairs;
      for (int64_t h = 0; h < n.heads; ++h) {
        const int64_t at = row * row_width + h * n.width;
        head(pairs, pairs, direction, cosine + angles, sine + angles, x + at, to.data + at);
      }
    }
  });
}

}  // namespace heed::inline HEED_REAL::kernels
