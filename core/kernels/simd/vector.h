// A vector register as a type, by the vector extension of GCC and Clang: +, - and * act on all
// lanes, comparisons give a mask, and c ? a : b selects by lane. For kernels that must assign
// elements to registers themselves. Prefer a plain loop wherever the compiler vectorizes it.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#ifdef __FMA__
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "core/kernels/fma.h"

namespace heed::inline HEED_REAL::kernels {

#ifdef __AVX512F__
inline constexpr int vector_bytes = 64, vector_registers = 32;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32, vector_registers = 16;
#elif defined(__aarch64__)
inline constexpr int vector_bytes = 16, vector_registers = 32;
#else
inline constexpr int vector_bytes = 16, vector_registers = 16;
#endif
inline constexpr int lanes = vector_bytes / sizeof(real);  // elements of a vector

using Vector [[gnu::vector_size(vector_bytes)]] = real;
#ifdef HEED_DOUBLE
using VectorIndex [[gnu::vector_size(vector_bytes)]] = int64_t;
#else
using VectorIndex [[gnu::vector_size(vector_bytes)]] = int32_t;
#endif

// Rounds n up to a multiple of `lanes`.
constexpr int64_t whole_vectors(int64_t n) { return (n + lanes - 1) / lanes * lanes; }

struct [[gnu::packed, gnu::may_alias]] UnalignedVector {
  Vector values;
};
inline Vector load(const real* from) {
  return reinterpret_cast<const UnalignedVector*>(from)->values;
}
inline void store(real* to, Vector values) {
  reinterpret_cast<UnalignedVector*>(to)->values = values;
}

// Load and store only the first `count` elements, 0 < count < lanes. The other lanes are loaded as
// 0.
#ifdef __AVX512F__
inline Vector load_first(const real* from, int64_t count) {
  const auto first = static_cast<__mmask16>((1U << count) - 1);
  if constexpr (sizeof(real) == 4)
    return Vector(_mm512_maskz_loadu_ps(first, from));
  else
    return Vector(_mm512_maskz_loadu_pd(static_cast<__mmask8>(first), from));
}
inline void store_first(real* to, Vector values, int64_t count) {
  const auto first = static_cast<__mmask16>((1U << count) - 1);
  if constexpr (sizeof(real) == 4)
    _mm512_mask_storeu_ps(to, first, __m512(values));
  else
    _mm512_mask_storeu_pd(to, static_cast<__mmask8>(first), __m512d(values));
}
#else
inline Vector load_first(const real* from, int64_t count) {
  Vector values{};
  std::memcpy(&values, from, static_cast<size_t>(count) * sizeof(real));
  return values;
}
inline void store_first(real* to, Vector values, int64_t count) {
  std::memcpy(to, &values, static_cast<size_t>(count) * sizeof(real));
}
#endif

// x in every lane. (Subtracting 0 keeps the sign of -0, and costs nothing.)
inline Vector broadcast(real x) { return x - Vector{}; }

// a b + c in every lane: see core/kernels/fma.h.
[[gnu::always_inline]] inline Vector fma(Vector a, Vector b, Vector c) {
#if defined(__AVX512F__) && defined(HEED_DOUBLE)
  return Vector(_mm512_fmadd_pd(__m512d(a), __m512d(b), __m512d(c)));
#elif defined(__AVX512F__)
  return Vector(_mm512_fmadd_ps(__m512(a), __m512(b), __m512(c)));
#elif defined(__FMA__) && defined(HEED_DOUBLE)
  return Vector(_mm256_fmadd_pd(__m256d(a), __m256d(b), __m256d(c)));
#elif defined(__FMA__)
  return Vector(_mm256_fmadd_ps(__m256(a), __m256(b), __m256(c)));
#elif defined(__aarch64__) && defined(HEED_DOUBLE)
  return Vector(vfmaq_f64(float64x2_t(c), float64x2_t(a), float64x2_t(b)));
#elif defined(__aarch64__)
  return Vector(vfmaq_f32(float32x4_t(c), float32x4_t(a), float32x4_t(b)));
#else
  return a * b + c;
#endif
}

// {0, 1, 2, …}
inline VectorIndex lane_indices() {
  VectorIndex indices;
  for (int l = 0; l < lanes; ++l) indices[l] = l;
  return indices;
}

// How to access one vector of a row: all lanes, or in the last vector those that the row has.
struct WholeVector {
  static Vector load(const real* from) { return kernels::load(from); }
  static void store(real* to, Vector values) { kernels::store(to, values); }
  // The lanes that the row has; the others become `fill`.
  static Vector select(Vector values, real) { return values; }
};
struct PartialVector {
  int64_t count;
  Vector load(const real* from) const { return load_first(from, count); }
  void store(real* to, Vector values) const { store_first(to, values, count); }
  Vector select(Vector values, real fill) const {
    return lane_indices() < static_cast<int32_t>(count) ? values : broadcast(fill);
  }
};

// Calls f(i, part) for each vector of a row of n elements, i = 0, lanes, 2 · lanes, …; `part` is a
// WholeVector or a PartialVector.
template <class F>
inline void for_each_vector(int64_t n, F f) {
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) f(i, WholeVector{});
  if (i < n) f(i, PartialVector{n - i});
}

namespace detail {
// Exchanges lanes j and j ^ step.
template <int step, int... j>
inline Vector exchange_lanes(Vector v, std::integer_sequence<int, j...>) {
  return __builtin_shufflevector(v, v, (j ^ step)...);
}

// Combines all lanes in pairs: half as many each time.
template <int step = lanes / 2, class Combine>
inline real reduce_lanes(Vector v, Combine combine) {
  const Vector pairs =
      combine(v, exchange_lanes<step>(v, std::make_integer_sequence<int, lanes>()));
  if constexpr (step == 1)
    return pairs[0];
  else
    return reduce_lanes<step / 2>(pairs, combine);
}
}  // namespace detail

// The sum and the maximum of all lanes.
inline real sum(Vector v) {
  return detail::reduce_lanes(v, [](Vector a, Vector b) { return a + b; });
}
inline real maximum(Vector v) {
  return detail::reduce_lanes(v, [](Vector a, Vector b) { return a > b ? a : b; });
}

// Transposes a matrix on the calling thread, in squares of lanes × lanes elements held in vector
// registers: `from` (rows, columns) and `to` (columns, rows), each with its leading dimension. Rows
// of `to` are written in whole vectors: the elements beyond `rows` repeat the last row of `from`.
void transpose(int64_t rows, int64_t columns, const real* from, int64_t leading_from, real* to,
               int64_t leading_to);

}  // namespace heed::inline HEED_REAL::kernels
