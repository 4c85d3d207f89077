#include "course/grader/grader.h"

#include <algorithm>

namespace heed::course {

[[gnu::weak]] void multiply_tile(int64_t k, const real* a, int64_t leading_a, const real* b,
                                 real* c, int64_t leading_c);

void grade_register_tile(Grader& g, decltype(&multiply_tile) answer) {
  constexpr int64_t rows = 6, columns = 16;
  const auto check = [&](int64_t k, int64_t leading_a, int64_t leading_c) {
    // More rows of a than are read, so that its transpose is there, too.
    const Shape of_a{std::max(rows, k), leading_a}, of_c{rows + 1, leading_c};
    const auto definition = [=](Arrays x, const Index& i) {
      if (i[0] >= rows || i[1] >= columns) return x[2](i);
      return x[2](i) +
             sum_over(k, [&](int64_t p) { return x[0](i.with(1, p)) * x[1](i.with(0, p)); });
    };
    g.check({.name = fmt::format("c {} after a tile, k = {}, leading_a = {}", of_c, k, leading_a),
             .inputs = {of_a, {k, columns}, of_c},
             .result = of_c,
             .op =
                 [=](Tensors x) {
                   Tensor c = add(x[2], 0);
                   answer(k, x[0].data(), leading_a, x[1].data(), c.mutable_data(), leading_c);
                   return c;
                 },
             .definition = definition,
             .arguments = {"a", "b", "c"},
             .differentiable = false});
  };
  const int64_t k = g.size(6, 9);
  check(k, k + g.size(1, 3), columns + g.size(1, 5));
  check(g.size(20, 30), 31, columns);
  check(1, 6, 40);
}
namespace {
namespace register_tile_answers {

// Loops that may go wrong.
struct Loops {
  int rows = 6, columns = 16;
  bool replaces = false, last_only = false, first_row = false, minus = false;
  bool transposed_a = false, transposed_b = false, dense_a = false, dense_c = false;
};

template <Loops loops>
void tile(int64_t k, const real* a, int64_t leading_a, const real* b, real* c, int64_t leading_c) {
  for (int i = 0; i < loops.rows; ++i)
    for (int j = 0; j < loops.columns; ++j) {
      real sum = 0;
      for (int64_t p = loops.last_only ? k - 1 : 0; p < k; ++p) {
        const int64_t row = loops.first_row ? 0 : i;
        const int64_t at =
            loops.transposed_a ? p * leading_a + row : row * (loops.dense_a ? k : leading_a) + p;
        sum += a[at] * b[loops.transposed_b ? j * k + p : 16 * p + j];
      }
      real& to = c[i * (loops.dense_c ? 16 : leading_c) + j];
      to = (loops.replaces ? 0 : to) + (loops.minus ? -sum : sum);
    }
}

const Exercise register_tile_exercise(
    "register_tile", grade_register_tile, {multiply_tile},
    {{"", tile<Loops{}>},
     {"c is as it was: nothing is computed yet.", tile<Loops{.rows = 0}>},
     {"The products replace what was in c; they must be added to it.",
      tile<Loops{.replaces = true}>},
     {"Only the last product, p = k - 1, is added: the sums start again for each p.",
      tile<Loops{.last_only = true}>},
     {"Only the first eight columns are computed: there are 16.", tile<Loops{.columns = 8}>},
     {"Only the first row is computed: there are six.", tile<Loops{.rows = 1}>},
     {"Every row of c has the sums of the first row of a.", tile<Loops{.first_row = true}>},
     {"The products are subtracted.", tile<Loops{.minus = true}>},
     {"a is read as its transpose: element (i, p) is a[i * leading_a + p].",
      tile<Loops{.transposed_a = true}>},
     {"b is read as its transpose: element (p, j) is b[16 * p + j].",
      tile<Loops{.transposed_b = true}>},
     {"This reads the rows of a as if they followed each other: row i begins at a[i * leading_a].",
      tile<Loops{.dense_a = true}>},
     {"This reads the rows of c as if they followed each other: row i begins at c[i * leading_c].",
      tile<Loops{.dense_c = true}>}});

}  // namespace register_tile_answers
}  // namespace
}  // namespace heed::course
