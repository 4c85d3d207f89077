// Fused multiply-add: a b + c, rounded once.
//
// Compilers fuse a product and a sum in some loops and not in others, so heed is built without
// (-ffp-contract=off): a formula means the same in every instance of a template, at every position
// of a row and for every compiler. Kernels where fusing pays say so with fma(). On a processor
// without such an instruction it rounds twice, as std::fma() would be a slow call.
#pragma once

#include "core/real.h"

namespace heed::inline HEED_REAL::kernels {

#if defined(__FMA__) || defined(__aarch64__)
[[gnu::always_inline]] inline float fma(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
[[gnu::always_inline]] inline double fma(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
#else
[[gnu::always_inline]] inline float fma(float a, float b, float c) { return a * b + c; }
[[gnu::always_inline]] inline double fma(double a, double b, double c) { return a * b + c; }
#endif

}  // namespace heed::inline HEED_REAL::kernels
