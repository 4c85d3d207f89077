#include "course/grader/grader.h"

namespace heed::course {

[[gnu::weak]] void multiply_tile(int64_t k, const real* a, int64_t leading_a, const real* b,
                                 real* c, int64_t leading_c);

namespace {

constexpr int64_t tile_rows = 6, tile_columns = 16;

// What is in c (Array 2) after a tile of depth k: element(a, b, c, i, j) if the tile has it.
template <class Element>
Definition after_tile(Element element, int64_t rows = tile_rows, int64_t columns = tile_columns) {
  return [=](Arrays x, const Index& i) {
    return i[0] < rows && i[1] < columns ? element(x[0], x[1], x[2](i), i[0], i[1]) : x[2](i);
  };
}

double tile_at(const Array& x, int64_t i) { return x.values[static_cast<size_t>(i)]; }

}  // namespace

void grade_register_tile(Grader& g,
                         void (*multiply_tile)(int64_t k, const real* a, int64_t leading_a,
                                               const real* b, real* c, int64_t leading_c)) {
  const auto check = [&](int64_t k, int64_t leading_a, int64_t leading_c) {
    // Σₚ a[first_a + p · step_a] b[first_b + p · step_b]
    const auto dot = [=](const Array& a, int64_t first_a, int64_t step_a, const Array& b,
                         int64_t first_b, int64_t step_b) {
      return sum_over(k, [&](int64_t p) {
        return tile_at(a, first_a + p * step_a) * tile_at(b, first_b + p * step_b);
      });
    };
    using A = const Array&;
    const auto right = [=](A a, A b, double c, int64_t i, int64_t j) {
      return c + dot(a, i * leading_a, 1, b, j, tile_columns);
    };
    std::vector<Mistake> mistakes{
        wrong_value("c is as it was: nothing is computed yet.",
                    [](Arrays x, const Index& i) { return x[2](i); }),
        wrong_value("The products replace what was in c; they must be added to it.",
                    after_tile([=](A a, A b, double, int64_t i, int64_t j) {
                      return dot(a, i * leading_a, 1, b, j, tile_columns);
                    })),
        wrong_value("Only the last product, p = k - 1, is added: the sums start again for each p.",
                    after_tile([=](A a, A b, double c, int64_t i, int64_t j) {
                      return c + tile_at(a, i * leading_a + k - 1) *
                                     tile_at(b, (k - 1) * tile_columns + j);
                    })),
        wrong_value("Only the first eight columns are computed: there are 16.",
                    after_tile(right, tile_rows, 8)),
        wrong_value("Only the first row is computed: there are six.",
                    after_tile(right, 1, tile_columns)),
        wrong_value("Every row of c has the sums of the first row of a.",
                    after_tile([=](A a, A b, double c, int64_t, int64_t j) {
                      return c + dot(a, 0, 1, b, j, tile_columns);
                    })),
        wrong_value("The products are subtracted.",
                    after_tile([=](A a, A b, double c, int64_t i, int64_t j) {
                      return c - dot(a, i * leading_a, 1, b, j, tile_columns);
                    })),
        wrong_value("a is read as its transpose: element (i, p) is a[i * leading_a + p].",
                    after_tile([=](A a, A b, double c, int64_t i, int64_t j) {
                      return c + dot(a, i, leading_a, b, j, tile_columns);
                    })),
        wrong_value("b is read as its transpose: element (p, j) is b[16 * p + j].",
                    after_tile([=](A a, A b, double c, int64_t i, int64_t j) {
                      return c + dot(a, i * leading_a, 1, b, j * k, 1);
                    }))};
    if (leading_a != k)
      mistakes.push_back(wrong_value(
          "The rows of a are taken to follow each other: row i begins at a[i * leading_a].",
          after_tile([=](A a, A b, double c, int64_t i, int64_t j) {
            return c + dot(a, i * k, 1, b, j, tile_columns);
          })));
    if (leading_c != tile_columns)
      mistakes.push_back(wrong_value(
          "The rows of c are taken to follow each other: row i begins at c[i * leading_c].",
          [=](Arrays x, const Index& i) {
            const int64_t at = i[0] * leading_c + i[1];
            if (at >= tile_rows * tile_columns) return x[2](i);
            return right(x[0], x[1], x[2](i), at / tile_columns, at % tile_columns);
          }));
    // More rows of a than are read, so that its transpose is there, too.
    const Shape of_a{std::max(tile_rows, k), leading_a}, of_c{tile_rows + 1, leading_c};
    g.check({.name = fmt::format("c {} after a tile, k = {}, leading_a = {}", of_c, k, leading_a),
             .inputs = {of_a, {k, tile_columns}, of_c},
             .result = of_c,
             .op =
                 [=](Tensors x) {
                   Tensor c = add(x[2], 0);
                   multiply_tile(k, x[0].data(), leading_a, x[1].data(), c.mutable_data(),
                                 leading_c);
                   return c;
                 },
             .definition = after_tile(right),
             .arguments = {"a", "b", "c"},
             .differentiable = false},
            mistakes);
  };
  const int64_t k = g.size(6, 9);
  check(k, k + g.size(1, 3), tile_columns + g.size(1, 5));
  check(g.size(20, 30), 31, tile_columns);
  check(1, 6, 40);
}
HEED_GRADE(register_tile, multiply_tile);

}  // namespace heed::course
