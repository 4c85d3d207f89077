// The definition of the AMX tile instructions in plain C++: tiles of 16 rows of 64 bytes, and
// TDPBF16PS (Intel, "64 and IA-32 Architectures Software Developer's Manual", volume 2):
//
//   for each element (i, j) of c, over the pairs p of row i of a and column j of b:
//     even += a[i, 2p] · b[2p, j]        odd += a[i, 2p+1] · b[2p+1, j]      fused, to nearest even
//   c[i, j] += even + odd
//
// where every operand and every result smaller than 2^-126 is replaced by zero. And of
// VCVTNE2PS2BF16, which rounds to the nearest bfloat16, ties to even.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/real.h"

namespace heed::inline HEED_REAL::testing {

// A tile as its 16 × 16 words: float32, or pairs of bfloat16, the first in the lower half.
using Tile = std::array<std::array<uint32_t, 16>, 16>;

inline float flushed(float x) {
  return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0F, x) : x;
}
inline float first_of(uint32_t pair) { return flushed(std::bit_cast<float>(pair << 16)); }
inline float second_of(uint32_t pair) { return flushed(std::bit_cast<float>(pair & 0xffff0000)); }

inline uint32_t to_bfloat16(float x) {
  const auto bits = std::bit_cast<uint32_t>(flushed(x));
  return std::isnan(x) ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

inline void multiply_tiles(Tile& c, const Tile& a, const Tile& b) {
  for (size_t i = 0; i < 16; ++i) {
    for (size_t j = 0; j < 16; ++j) {
      float even = 0, odd = 0;
      for (size_t p = 0; p < 16; ++p) {
        even = flushed(std::fma(first_of(a[i][p]), first_of(b[p][j]), even));
        odd = flushed(std::fma(second_of(a[i][p]), second_of(b[p][j]), odd));
      }
      const float sum = flushed(even + odd);
      c[i][j] = std::bit_cast<uint32_t>(flushed(flushed(std::bit_cast<float>(c[i][j])) + sum));
    }
  }
}

// The eight tiles of a thread, as the parameter of TileProduct.
class SoftwareTiles {
 public:
  static constexpr int64_t rate = 6;
  static void configure() { ++configured; }
  static void release() { --configured; }

  template <class Floats, class Words>
  static void round_pairs(const Floats& even, const Floats& odd, Words& pairs) {
    for (int i = 0; i < 16; ++i) pairs[i] = to_bfloat16(odd[i]) << 16 | to_bfloat16(even[i]);
  }
  template <class Floats, class Words>
  static void round_in_order(const Floats& first, const Floats& second, Words& pairs) {
    for (int i = 0; i < 8; ++i) {
      pairs[i] = to_bfloat16(first[2 * i + 1]) << 16 | to_bfloat16(first[2 * i]);
      pairs[i + 8] = to_bfloat16(second[2 * i + 1]) << 16 | to_bfloat16(second[2 * i]);
    }
  }

  template <int tile>
  void zero() {
    at(tile) = {};
  }
  template <int tile>
  void load(const uint32_t* from) {
    std::memcpy(&at(tile), from, sizeof(Tile));
  }
  template <int tile>
  void store(float* to, int64_t leading) {
    for (size_t i = 0; i < 16; ++i)
      std::memcpy(to + static_cast<int64_t>(i) * leading, &at(tile)[i], sizeof(at(tile)[i]));
  }
  template <int c, int a, int b>
  void multiply() {
    multiply_tiles(at(c), at(a), at(b));
  }

 private:
  // A tile that its thread has not configured is always zero, so results are wrong.
  Tile& at(int tile) {
    if (configured != 1) tiles_[static_cast<size_t>(tile)] = {};
    return tiles_[static_cast<size_t>(tile)];
  }

  inline static thread_local int configured = 0;
  std::array<Tile, 8> tiles_{};
};

}  // namespace heed::inline HEED_REAL::testing
