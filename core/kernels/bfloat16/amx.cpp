// The six AMX instructions that a matrix product needs. There are eight tile registers; their shape
// is part of the configuration of a thread, in force from LDTILECFG to TILERELEASE.
// (Intel, "64 and IA-32 Architectures Software Developer's Manual", volume 1, chapter 18.)
//
// They are inline assembly because the intrinsics of gcc 12 require the tile number as a literal
// and do not tell the compiler that they read memory: it may then drop, or delay, the stores to
// what they load.
//
// This file is compiled with AVX-512 and AVX512_BF16, whatever the build's target, for packing and
// for writing blocks.
#include "core/kernels/bfloat16/rounding.h"
#include "core/kernels/bfloat16/tile_product.h"

#if defined(__x86_64__) && !defined(HEED_DOUBLE)

namespace heed::inline HEED_REAL::kernels {
namespace {

// The operand of LDTILECFG. All eight tiles are 16 rows of 64 bytes.
struct alignas(64) Configuration {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t bytes_in_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(Configuration) == 64);
constexpr Configuration configuration;

struct AmxTiles : Rounding {
  static constexpr int64_t rate = 6;
  static void configure() { asm volatile("ldtilecfg %0" ::"m"(configuration)); }
  static void release() { asm volatile("tilerelease"); }

  template <int tile>
  void zero() {
    asm volatile("tilezero %%tmm%c0" ::"i"(tile));
  }
  // 16 rows of 64 bytes, contiguous.
  template <int tile>
  void load(const uint32_t* from) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(int64_t{64}), "i"(tile)
                 : "memory");
  }
  // 16 rows of 16 floats, with leading dimension `leading`.
  template <int tile>
  void store(float* to, int64_t leading) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(leading * int64_t{sizeof(float)}),
                 "i"(tile)
                 : "memory");
  }
  // c += a · b. In AT&T syntax the result is the last operand.
  template <int c, int a, int b>
  void multiply() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(c), "i"(a), "i"(b));
  }
};

}  // namespace

const TileKernels amx_kernels = TileProduct<AmxTiles>::kernels;

}  // namespace heed::inline HEED_REAL::kernels

#endif
