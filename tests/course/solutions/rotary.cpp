#include <cmath>

#include "core/autograd.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL {

// Rotates pair k of every head at position t by the angle (first_position + t) · base^(-2k/K).
// x (B, T, H·K), K even → (B, T, H·K)
Tensor rotary(const Tensor& x, int64_t heads, const RotaryOptions& options) {
  const int64_t time = x.dim(1), width = x.dim(2) / heads, rows = x.dim(0) * time;
  // to = from, rotated by sign · angle; added to it if `add`
  const auto rotate = [=](const real* from, real* to, real sign, bool add) {
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t k = 0; k < width / 2; ++k) {
          const bool halves = options.layout == RotaryLayout::halves;
          const int64_t first = (row * heads + h) * width + (halves ? k : 2 * k);
          const int64_t second = first + (halves ? width / 2 : 1);
          const real exponent = -2 * static_cast<real>(k) / static_cast<real>(width);
          const real angle = sign * static_cast<real>(options.first_position + row % time) *
                             std::pow(options.base, exponent);
          const real c = std::cos(angle), s = std::sin(angle), a = from[first], b = from[second];
          to[first] = (add ? to[first] : 0) + a * c - b * s;
          to[second] = (add ? to[second] : 0) + a * s + b * c;
        }
  };
  Tensor y = Tensor::empty(x.shape());
  rotate(x.data(), y.mutable_data(), 1, false);
  return record("rotary", y, {x}, [=](Backward& g) {
    const Destination dx = g.into(0);
    rotate(g.dy(), dx.data, -1, dx.accumulate);
  });
}

}  // namespace heed::inline HEED_REAL
