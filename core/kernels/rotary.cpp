#include "core/kernels/rotary.h"

#include "core/parallel.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

void put(const Destination& to, int64_t at, real value) {
  to.data[at] = to.accumulate ? to.data[at] + value : value;
}

}  // namespace

void rotate(const RotarySizes& n, real direction, const real* cosine, const real* sine,
            const real* x, Destination to) {
  const int64_t pairs = n.width / 2, row_width = n.heads * n.width;
  parallel_for(n.batch * n.time, chunk_rows(row_width), [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const real *c = cosine + row % n.time * pairs, *s = sine + row % n.time * pairs;
      for (int64_t h = 0; h < n.heads; ++h)
        for (int64_t k = 0; k < pairs; ++k) {
          const int64_t at = row * row_width + h * n.width + n.step * k;
          const real a = x[at], b = x[at + n.apart], sin = direction * s[k];
          put(to, at, a * c[k] - b * sin);
          put(to, at + n.apart, a * sin + b * c[k]);
        }
    }
  });
}

}  // namespace heed::inline HEED_REAL::kernels
