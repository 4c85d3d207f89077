// One register of the vector unit, as GCC's vector extension has it: +, * and comparisons act on
// all its numbers. For kernels that must place numbers in registers themselves; a plain loop is
// better wherever the compiler turns it into the same.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "core/real.h"

namespace heed::inline HEED_REAL::kernels {

#ifdef __AVX512F__
inline constexpr int vector_bytes = 64, vector_registers = 32;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32, vector_registers = 16;
#else
inline constexpr int vector_bytes = 16, vector_registers = 16;
#endif
inline constexpr int lanes = vector_bytes / sizeof(real);  // numbers in a vector

using Vector [[gnu::vector_size(vector_bytes)]] = real;
#ifdef HEED_DOUBLE
using VectorIndex [[gnu::vector_size(vector_bytes)]] = int64_t;
#else
using VectorIndex [[gnu::vector_size(vector_bytes)]] = int32_t;
#endif

// n, made a multiple of `lanes`.
constexpr int64_t whole_vectors(int64_t n) { return (n + lanes - 1) / lanes * lanes; }

struct [[gnu::packed, gnu::may_alias]] VectorAnywhere {
  Vector values;
};
inline Vector load(const real* from) {
  return reinterpret_cast<const VectorAnywhere*>(from)->values;
}
inline void store(real* to, Vector values) {
  reinterpret_cast<VectorAnywhere*>(to)->values = values;
}

// The first `count` numbers alone; the rest of what is loaded is 0.
#ifdef __AVX512F__
inline Vector load_some(const real* from, int64_t count) {
  const auto first = static_cast<__mmask16>((1U << count) - 1);
  if constexpr (sizeof(real) == 4)
    return Vector(_mm512_maskz_loadu_ps(first, from));
  else
    return Vector(_mm512_maskz_loadu_pd(static_cast<__mmask8>(first), from));
}
inline void store_some(real* to, Vector values, int64_t count) {
  const auto first = static_cast<__mmask16>((1U << count) - 1);
  if constexpr (sizeof(real) == 4)
    _mm512_mask_storeu_ps(to, first, __m512(values));
  else
    _mm512_mask_storeu_pd(to, static_cast<__mmask8>(first), __m512d(values));
}
#else
inline Vector load_some(const real* from, int64_t count) {
  Vector values{};
  std::memcpy(&values, from, static_cast<size_t>(count) * sizeof(real));
  return values;
}
inline void store_some(real* to, Vector values, int64_t count) {
  std::memcpy(to, &values, static_cast<size_t>(count) * sizeof(real));
}
#endif

// How a vector of a row is read and written: all of it, or the numbers that the row's last one has.
struct WholeVector {
  static Vector load(const real* from) { return kernels::load(from); }
  static void store(real* to, Vector values) { kernels::store(to, values); }
};
struct PartOfVector {
  int64_t count;
  Vector load(const real* from) const { return load_some(from, count); }
  void store(real* to, Vector values) const { store_some(to, values, count); }
};

// f(i, at) for the vectors of a row of n numbers, i = 0, lanes, …, `at` one of the two above.
template <class F>
inline void for_each_vector(int64_t n, F f) {
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) f(i, WholeVector{});
  if (i < n) f(i, PartOfVector{n - i});
}

namespace detail {
// In place j what was in place j ^ step.
template <int step, int... j>
inline Vector crossed(Vector v, std::integer_sequence<int, j...>) {
  return __builtin_shufflevector(v, v, (j ^ step)...);
}

// All lanes put together by `join`, in pairs: half as many each time.
template <int step = lanes / 2, class Join>
inline real fold(Vector v, Join join) {
  const Vector pairs = join(v, crossed<step>(v, std::make_integer_sequence<int, lanes>()));
  if constexpr (step == 1)
    return pairs[0];
  else
    return fold<step / 2>(pairs, join);
}
}  // namespace detail

inline real sum(Vector v) {
  return detail::fold(v, [](Vector a, Vector b) { return a + b; });
}
inline real greatest(Vector v) {
  return detail::fold(v, [](Vector a, Vector b) { return a > b ? a : b; });
}

}  // namespace heed::inline HEED_REAL::kernels
