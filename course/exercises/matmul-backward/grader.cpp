#include "course/grader/grader.h"

#include "course/grader/training.h"
#include "nn/positional.h"

namespace heed::course {

void grade_matmul_backward(Grader& g, Tensor (*matmul)(const Tensor& a, const Tensor& b)) {
  const auto at = [](const Index& i, int64_t row, int64_t column) {
    return i.with(i.rank - 2, row).with(i.rank - 1, column);
  };
  // The index of element (row, column) of the matrix that `own`, aligned at the last axis, has for
  // each matrix of `whole`; calls f for those that use the matrix of index i.
  const auto sum_over_batch = [](const Shape& whole, const Shape& own, const Index& i, auto f) {
    double total = 0;
    const Shape batch = whole.without(-1).without(-1);
    for (const Index& b : indices(batch)) {
      bool uses = true;
      for (int axis = 3; axis <= own.rank(); ++axis)
        uses = uses && i[-axis] == (own[-axis] == 1 ? 0 : b[2 - axis]);
      if (uses) total += f(b.inserted(b.rank, 0).inserted(b.rank + 1, 0));
    }
    return total;
  };
  const auto check = [&](const Shape& a, const Shape& b) {
    const int64_t m = a[-2], k = a[-1], n = b[-1];
    const Shape batch =
        heed::broadcast("matmul", a.without(-1).without(-1), b.without(-1).without(-1));
    const Shape shape = batch.inserted(batch.rank(), m).inserted(batch.rank() + 1, n);
    // The gradient of argument `own`: for element (r, c) of its matrix the sum over the batch of
    // term(a, b, dc, r, c), where a(r, c), b(r, c) and dc(r, c) are elements of the matrices.
    const auto gradient = [=](const Shape& own, auto term) {
      return [=](Arrays x, const Array& dy, const Index& i) {
        return sum_over_batch(dy.shape, own, i, [&](const Index& first) {
          const auto element = [&](const Array& array) {
            return [&array, &first, &at](int64_t r, int64_t c) { return array(at(first, r, c)); };
          };
          return term(element(x[0]), element(x[1]), element(dy), i[-2], i[-1]);
        });
      };
    };
    std::vector<Mistake> mistakes;
    const auto add = [&](const char* name, const std::string& sentence, auto term) {
      mistakes.push_back(wrong_gradient(name, sentence, gradient(name[0] == 'a' ? a : b, term)));
    };
    if (k == n)
      add("a", "This is dc · b: here b must be transposed, da = dc · bᵀ.",
          [=](auto, auto b_, auto dc, int64_t r, int64_t c) {
            return sum_over(n, [&](int64_t j) { return dc(r, j) * b_(j, c); });
          });
    if (m == k)
      add("b", "This is a · dc: here a must be transposed, db = aᵀ · dc.",
          [=](auto a_, auto, auto dc, int64_t r, int64_t c) {
            return sum_over(m, [&](int64_t i) { return a_(r, i) * dc(i, c); });
          });
    if (m == k && k == n) {
      add("a", "This is bᵀ · dc: the factors are in the wrong order, da = dc · bᵀ.",
          [=](auto, auto b_, auto dc, int64_t r, int64_t c) {
            return sum_over(n, [&](int64_t j) { return b_(j, r) * dc(j, c); });
          });
      add("b", "This is dc · aᵀ: the factors are in the wrong order, db = aᵀ · dc.",
          [=](auto a_, auto, auto dc, int64_t r, int64_t c) {
            return sum_over(n, [&](int64_t j) { return dc(r, j) * a_(c, j); });
          });
      add("a", "This is aᵀ · dc, the gradient of b.",
          [=](auto a_, auto, auto dc, int64_t r, int64_t c) {
            return sum_over(n, [&](int64_t i) { return a_(i, r) * dc(i, c); });
          });
      add("a", "This is the transpose of the gradient: da[i * k + p] is row i, column p.",
          [=](auto, auto b_, auto dc, int64_t r, int64_t c) {
            return sum_over(n, [&](int64_t j) { return dc(c, j) * b_(r, j); });
          });
      add("b", "This is the transpose of the gradient: db[p * n + j] is row p, column j.",
          [=](auto a_, auto, auto dc, int64_t r, int64_t c) {
            return sum_over(n, [&](int64_t i) { return a_(i, c) * dc(i, r); });
          });
    }
    add("a",
        "The factor dc is missing: this is the sum of a row of b, the gradient only if dc is 1.",
        [=](auto, auto b_, auto, int64_t, int64_t c) {
          return sum_over(n, [&](int64_t j) { return b_(c, j); });
        });
    add("b",
        "The factor dc is missing: this is the sum of a column of a, the gradient only if dc is 1.",
        [=](auto a_, auto, auto, int64_t r, int64_t) {
          return sum_over(m, [&](int64_t i) { return a_(i, r); });
        });
    add("a", "Only the last column of dc arrives: da[…] = instead of +=?",
        [=](auto, auto b_, auto dc, int64_t r, int64_t c) { return dc(r, n - 1) * b_(c, n - 1); });
    add("b", "Only the last row of dc arrives: db[…] = instead of +=?",
        [=](auto a_, auto, auto dc, int64_t r, int64_t c) { return a_(m - 1, r) * dc(m - 1, c); });
    g.check({.name = fmt::format("product of a {} and b {}", a, b),
             .inputs = {a, b},
             .result = shape,
             .op = [=](Tensors x) { return matmul(x[0], x[1]); },
             .definition =
                 [=](Arrays x, const Index& i) {
                   return sum_over(k, [&](int64_t p) {
                     return x[0](i.with(i.rank - 1, p)) * x[1](i.with(i.rank - 2, p));
                   });
                 },
             .arguments = {"a", "b"}},
            mistakes);
  };
  const int64_t m = g.size(2, 3), k = m + g.size(1, 2), n = k + g.size(1, 2);
  check({k, k}, {k, k});
  check({m, k}, {k, n});
  check({n, m}, {m, k});
  check({1, k}, {k, 1});
  check({m, 1}, {1, n});
  check({2, m, k}, {2, k, n});
  check({2, 1, m, k}, {3, k, n});
}
HEED_GRADE(matmul_backward, matmul);
HEED_TRAIN(matmul_backward, positional_encodings::relative);

}  // namespace heed::course
