// Rounding to bfloat16 by the instruction VCVTNE2PS2BF16 of AVX512_BF16: 32 values, each to the
// nearest, ties to even; values smaller than 2^-126 become zero. (Intel, "Architecture Instruction
// Set Extensions Programming Reference".) For files compiled with that instruction.
#pragma once

#if defined(__x86_64__) && !defined(HEED_DOUBLE)

#include <immintrin.h>

#include "core/real.h"

namespace heed::inline HEED_REAL::kernels {

// A word of `pairs` is two bfloat16, the first in the lower half.
struct Rounding {
  // Word i is (even[i], odd[i]).
  template <class Floats, class Words>
  static void round_pairs(const Floats& even, const Floats& odd, Words& pairs) {
    const __m512i interleave =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                         21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const __m512bh rounded = _mm512_cvtne2ps_pbh((__m512)odd, (__m512)even);
    pairs = (Words)_mm512_permutexvar_epi16(interleave, (__m512i)rounded);
  }

  // Word i is values 2 i and 2 i + 1 of `first`, followed by `second`.
  template <class Floats, class Words>
  static void round_in_order(const Floats& first, const Floats& second, Words& pairs) {
    pairs = (Words)_mm512_cvtne2ps_pbh((__m512)second, (__m512)first);
  }
};

}  // namespace heed::inline HEED_REAL::kernels

#endif
