// The exercise register-tile: its solution, its stub, and the mistakes that its grader names.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include "core/real.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_register_tile(Grader& g,
                         void (*multiply_tile)(int64_t k, const real* a, int64_t leading_a,
                                               const real* b, real* c, int64_t leading_c));

namespace {

namespace register_tile_stub {
using namespace heed;
#include "course/exercises/register-tile/exercise.cpp"
}  // namespace register_tile_stub

namespace register_tile_solution {
using namespace heed;
#include "tests/course/solutions/register-tile.cpp"
}  // namespace register_tile_solution

using register_tile_solution::heed::course::multiply_tile;

// Naive loops that may go wrong.
struct TileLoops {
  int rows = 6, columns = 16;
  bool replaces = false, last_only = false, first_row = false, minus = false;
  bool transposed_a = false, transposed_b = false, dense_a = false, dense_c = false;
};

template <TileLoops loops>
void tile_by(int64_t k, const real* a, int64_t leading_a, const real* b, real* c,
             int64_t leading_c) {
  for (int i = 0; i < loops.rows; ++i)
    for (int j = 0; j < loops.columns; ++j) {
      real sum = 0;
      for (int64_t p = loops.last_only ? k - 1 : 0; p < k; ++p) {
        const int64_t row = loops.first_row ? 0 : i;
        const real x =
            a[loops.transposed_a ? p * leading_a + row : row * (loops.dense_a ? k : leading_a) + p];
        sum += x * b[loops.transposed_b ? j * k + p : 16 * p + j];
      }
      real& to = c[i * (loops.dense_c ? 16 : leading_c) + j];
      to = (loops.replaces ? 0 : to) + (loops.minus ? -sum : sum);
    }
}

TEST_CASE("exercise register-tile: the solution passes") {
  CHECK(graded(grade_register_tile, multiply_tile) == "");
  CHECK(graded(grade_register_tile, tile_by<TileLoops{}>) == "");
}

TEST_CASE("exercise register-tile: the stub and mistakes are named") {
  CHECK_NAMED("nothing is computed yet", grade_register_tile,
              register_tile_stub::heed::course::multiply_tile);
  CHECK_NAMED("they must be added to it", grade_register_tile,
              tile_by<TileLoops{.replaces = true}>);
  CHECK_NAMED("Only the last product", grade_register_tile, tile_by<TileLoops{.last_only = true}>);
  CHECK_NAMED("Only the first eight columns", grade_register_tile,
              tile_by<TileLoops{.columns = 8}>);
  CHECK_NAMED("Only the first row", grade_register_tile, tile_by<TileLoops{.rows = 1}>);
  CHECK_NAMED("the sums of the first row of a", grade_register_tile,
              tile_by<TileLoops{.first_row = true}>);
  CHECK_NAMED("are subtracted", grade_register_tile, tile_by<TileLoops{.minus = true}>);
  CHECK_NAMED("a is read as its transpose", grade_register_tile,
              tile_by<TileLoops{.transposed_a = true}>);
  CHECK_NAMED("b is read as its transpose", grade_register_tile,
              tile_by<TileLoops{.transposed_b = true}>);
  CHECK_NAMED("The rows of a are taken", grade_register_tile, tile_by<TileLoops{.dense_a = true}>);
  CHECK_NAMED("The rows of c are taken", grade_register_tile, tile_by<TileLoops{.dense_c = true}>);
}

}  // namespace
}  // namespace heed::course
