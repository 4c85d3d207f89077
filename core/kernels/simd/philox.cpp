#include <cstring>

#include "core/kernels/more_kernels.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace heed::inline HEED_REAL::kernels {

#ifdef __AVX2__
namespace {

// Each 64-bit lane of a vector holds one word of a block. The rounds read only the low halves of
// the lanes, as does the instruction that multiplies 32 by 32 bits (which compilers do not generate
// by themselves), so the high halves may hold anything.
#ifdef __AVX512F__
constexpr int philox_lane_count = 8;
using Lanes = uint64_t __attribute__((vector_size(64)));

Lanes multiply(Lanes a, uint64_t b) {
  return reinterpret_cast<Lanes>(
      _mm512_maskz_mul_epu32(  // the unmasked intrinsic triggers a warning in gcc 12's header
          0xFF, reinterpret_cast<__m512i>(a), _mm512_set1_epi64(static_cast<int64_t>(b))));
}
Lanes first_half(Lanes a, Lanes b) {
  return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
Lanes second_half(Lanes a, Lanes b) {
  return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
#else
constexpr int philox_lane_count = 4;
using Lanes = uint64_t __attribute__((vector_size(32)));

Lanes multiply(Lanes a, uint64_t b) {
  return reinterpret_cast<Lanes>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a), _mm256_set1_epi64x(static_cast<int64_t>(b))));
}
Lanes first_half(Lanes a, Lanes b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
Lanes second_half(Lanes a, Lanes b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
#endif

// Blocks first, first + 1, … of a stream, one in each lane, by the rounds of philox() in
// core/random.cpp.
void philox_lanes(const StreamKey& stream, uint64_t first, uint32_t* words) {
  constexpr uint64_t low = 0xFFFFFFFF;
  Lanes c0 = Lanes{} + first, c1 = Lanes{} + stream.c, c2 = Lanes{} + stream.b,
        c3 = Lanes{} + stream.a;
  for (int i = 0; i < philox_lane_count; ++i) c0[i] += static_cast<uint64_t>(i);
  uint32_t k0 = static_cast<uint32_t>(stream.key), k1 = static_cast<uint32_t>(stream.key >> 32);
  for (int round = 0; round < 10; ++round) {
    const Lanes p0 = multiply(c0, 0xD2511F53), p1 = multiply(c2, 0xCD9E8D57);
    c0 = (p1 >> 32) ^ c1 ^ k0;
    c1 = p1;
    c2 = (p0 >> 32) ^ c3 ^ k1;
    c3 = p0;
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  // Store pairs of words, block by block.
  const Lanes c01 = (c0 & low) | (c1 << 32), c23 = (c2 & low) | (c3 << 32);
  const Lanes pairs[2] = {first_half(c01, c23), second_half(c01, c23)};
  std::memcpy(words, pairs, sizeof(pairs));
}

}  // namespace
#endif

void philox_words(const StreamKey& stream, uint64_t first_block, int64_t blocks, uint32_t* words) {
  int64_t i = 0;
#ifdef __AVX2__
  for (; i + philox_lane_count <= blocks; i += philox_lane_count)
    philox_lanes(stream, first_block + static_cast<uint64_t>(i), words + 4 * i);
#endif
  for (; i < blocks; ++i) {
    const PhiloxBlock block = stream.block(first_block + static_cast<uint64_t>(i));
    std::memcpy(words + 4 * i, block.data(), sizeof(block));
  }
}

}  // namespace heed::inline HEED_REAL::kernels
