// Rotary positions (Su et al. 2021, "RoFormer", equations 14 to 16): each pair of columns of
// x (batch, time, heads · width) is rotated by an angle proportional to the position.
#include "core/reference/reference.h"

namespace heed::inline HEED_REAL::kernels {

// angle[t, k] = (first + t) θₖ,  θₖ = base^(-2k / width);   cosine, sine (time, width / 2)
void rotary_angles(const RotarySizes& n, double base, int64_t first, real* cosine, real* sine) {
  const int64_t pairs = n.width / 2;
  for (int64_t t = 0; t < bound(n.time); ++t)
    for (int64_t k = 0; k < pairs; ++k) {
      const double theta = std::pow(base, -2.0 * k / n.width), angle = (first + t) * theta;
      cosine[t * pairs + k] = std::cos(angle);
      sine[t * pairs + k] = std::sin(angle);
    }
}

// ⎛ a ⎞     ⎛ cos  -sin ⎞ ⎛ a ⎞
// ⎝ b ⎠  ←  ⎝ sin   cos ⎠ ⎝ b ⎠     for pair (a, b) of columns; direction -1 rotates back
void rotate(const RotarySizes& n, real direction, const real* cosine, const real* sine,
            const real* x, Destination to) {
  const int64_t pairs = n.width / 2;
  for (int64_t row = 0; row < bound(n.batch * n.time); ++row)
    for (int64_t h = 0; h < n.heads; ++h)
      for (int64_t k = 0; k < pairs; ++k) {
        const int64_t head = (row * n.heads + h) * n.width, angle = row % n.time * pairs + k;
        const int64_t a = head + (n.interleaved ? 2 * k : k);
        const int64_t b = n.interleaved ? a + 1 : a + pairs;
        const double c = cosine[angle], s = direction * sine[angle];
        const double x_a = x[a], x_b = x[b];
        write(to, a, c * x_a - s * x_b);
        write(to, b, s * x_a + c * x_b);
      }
}

}  // namespace heed::inline HEED_REAL::kernels
