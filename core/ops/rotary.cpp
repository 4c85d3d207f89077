// Rotary positions.
#include "core/kernels/rotary.h"

#include <cmath>

#include "core/autograd.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL {
namespace {

// cos and sin of every angle, (T, K/2) each: t · base^(-2k/K), computed in double.
struct Angles {
  Tensor cosine, sine;

  Angles(int64_t time, int64_t width, const RotaryOptions& options)
      : cosine(Tensor::empty({time, width / 2})), sine(Tensor::empty({time, width / 2})) {
    real *c = cosine.mutable_data(), *s = sine.mutable_data();
    for (int64_t k = 0; k < width / 2; ++k) {
      const double exponent = -2 * static_cast<double>(k) / static_cast<double>(width);
      const double frequency = std::pow(options.base, exponent);
      for (int64_t t = 0; t < time; ++t) {
        const double angle = static_cast<double>(options.first_position + t) * frequency;
        c[t * (width / 2) + k] = static_cast<real>(std::cos(angle));
        s[t * (width / 2) + k] = static_cast<real>(std::sin(angle));
      }
    }
  }
};

}  // namespace

// (a, b) → (a cos - b sin, a sin + b cos)
Tensor rotary(const Tensor& x, int64_t heads, const RotaryOptions& options) {
  check(x.rank() == 3, "rotary: x must be (batch, time, heads · width), got {}", x.shape());
  check(heads >= 1 && x.dim(2) % heads == 0 && x.dim(2) / heads % 2 == 0,
        "rotary: {} heads must divide the width of x {} into even parts, for columns turn in pairs",
        heads, x.shape());
  check(options.base > 0 && options.first_position >= 0,
        "rotary: a base of {} must be positive, a first position of {} not negative", options.base,
        options.first_position);
  const int64_t width = x.dim(2) / heads;
  const bool neighbours = options.layout == RotaryLayout::interleaved;
  const kernels::RotarySizes n{x.dim(0), x.dim(1),           heads,
                               width,    neighbours ? 2 : 1, neighbours ? 1 : width / 2};
  const Angles angles(n.time, width, options);
  Tensor y = Tensor::empty(x.shape());
  kernels::rotate(n, 1, angles.cosine.data(), angles.sine.data(), x.data(),
                  {y.mutable_data(), false});
  return record("rotary", y, {x},
                [n, cosine = saved(angles.cosine, x), sine = saved(angles.sine, x)](Backward& g) {
                  // dx += dy turned back
                  kernels::rotate(n, -1, cosine.data(), sine.data(), g.dy(), g.into(0));
                });
}

}  // namespace heed::inline HEED_REAL
