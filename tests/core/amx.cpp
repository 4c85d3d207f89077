// Products in bfloat16 on the tiles of the processor: where it has them, and, where it has not but
// has AVX-512, on emulated instructions, which shows that amx.cpp says what it means to say.
#include "core/kernels/amx.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "bfloat16_check.h"
#include "core/ops.h"
#include "core/parallel.h"
#include "core/scope.h"
#include "emulated_amx.h"

namespace heed::inline HEED_REAL::testing {
namespace {

bool skipped_without_amx() {
  if (kernels::tile_kernels()) return false;
  MESSAGE("skipped: this processor has no AMX, or the system does not lend it");
  return true;
}

// How many numbers of the two differ in any bit.
int64_t differing(const Numbers& x, const Numbers& y) {
  int64_t count = 0;
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t j = 0; j < x.columns; ++j)
      count += std::bit_cast<uint32_t>(x.at(i, j)) != std::bit_cast<uint32_t>(y.at(i, j));
  return count;
}

#ifdef __x86_64__
TEST_CASE("amx: emulated instructions give the bits of the definition") {
  if (kernels::tile_kernels()) return;  // the processor's own are tested below
  if (!EmulatedAmx::possible()) {
    MESSAGE("skipped: this processor has no AVX-512");
    return;
  }
  const EmulatedAmx here;
  Draw draw(21);
  const int64_t sides[][3] = {{1, 1, 1}, {33, 17, 45}, {64, 32, 64}, {31, 70, 600}, {300, 290, 40}};
  for (const auto& [m, n, k] : sides) {
    const Product p(draw, m, n, k);
    for (const Precision precision : {Precision::high, Precision::medium})
      CHECK(differing(p.on(kernels::amx_kernels, precision), p.on(software_tiles, precision)) == 0);
  }
  CHECK(EmulatedAmx::instructions() > 1000);
  check_products(kernels::amx_kernels, 22, 10, 70);
}
#endif

TEST_CASE("amx: the processor's products agree with double and with the definition") {
  if (skipped_without_amx()) return;
  const kernels::TileKernels& tiles = *kernels::tile_kernels();
  check_products(tiles, 23, 200, 150);
  Draw draw(24);
  check_product(tiles, Product(draw, 300, 290, 1100));
  check_product(tiles, Product(draw, 2100, 40, 64));
  check_product(tiles, Product(draw, 40, 2100, 64));
  int64_t numbers = 0, differ = 0;
  for (int i = 0; i < 20; ++i) {
    const Product p(draw, 1 + draw.below(100), 1 + draw.below(100), 1 + draw.below(200));
    for (const Precision precision : {Precision::high, Precision::medium}) {
      differ += differing(p.on(tiles, precision), p.on(software_tiles, precision));
      numbers += p.c.rows * p.c.columns;
    }
  }
  MESSAGE(differ, " of ", numbers, " numbers differ in a bit from the definition");
  CHECK(differ == 0);
}

TEST_CASE("amx: a precision is what it says where there is a kernel, else float32") {
  const bool have = kernels::tile_kernels() != nullptr;
  for (const Precision precision : {Precision::highest, Precision::high, Precision::medium})
    CHECK(effective_precision(precision) == (have ? precision : Precision::highest));
}

}  // namespace
}  // namespace heed::inline HEED_REAL::testing
