#include "core/kernels/activation.h"

#include "core/kernels/activation_math.h"
#include "core/kernels/map.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

template <class F>
void for_each(int64_t rows, int64_t width, int64_t leading, real* y, real* slope, F f) {
  for (int64_t n = 0; n < rows; ++n) {
    real* __restrict row = y + n * leading;
    if (slope) {
      real* __restrict slopes = slope + n * leading;
#pragma GCC ivdep
      for (int64_t i = 0; i < width; ++i) {
        const ValueAndSlope at = f(row[i]);
        row[i] = at.value;
        slopes[i] = at.slope;
      }
    } else {
      for (int64_t i = 0; i < width; ++i) row[i] = f(row[i]).value;
    }
  }
}

}  // namespace

bool keeps_slope(Activation function) {
  return function == Activation::gelu || function == Activation::gelu_tanh ||
         function == Activation::silu;
}

void activate(Activation function, int64_t rows, int64_t width, int64_t leading, real* y,
              real* slope) {
  const auto each = [=](auto f) { for_each(rows, width, leading, y, slope, f); };
  switch (function) {
    case Activation::none:
      return;
    case Activation::relu:
      return each([](real h) { return relu_at(h); });
    case Activation::gelu:
      return each([](real h) { return gelu_at(h); });
    case Activation::gelu_tanh:
      return each([](real h) { return gelu_tanh_at(h); });
    case Activation::silu:
      return each([](real h) { return silu_at(h); });
    case Activation::tanh:
      return each([](real h) { return tanh_at(h); });
  }
}

void activate_backward(Activation function, int64_t n, const real* dy, const real* kept, real* dh) {
  const auto each = [=](auto slope) {
    map_range(0, n, {dh, false}, [=](int64_t i) { return dy[i] * slope(kept[i]); });
  };
  if (function == Activation::relu)
    map_range(0, n, {dh, false}, [=](int64_t i) { return kept[i] > 0 ? dy[i] : 0; });
  else if (function == Activation::tanh)
    each([](real y) { return 1 - y * y; });
  else
    each([](real slope) { return slope; });
}

}  // namespace heed::inline HEED_REAL::kernels
