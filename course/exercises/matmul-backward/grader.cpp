#include "course/grader/grader.h"

#include <algorithm>

#include "core/autograd.h"
#include "course/grader/training.h"
#include "nn/forms/positional.h"

namespace heed::course {

void grade_matmul_backward(Grader& g, decltype(&matmul) answer) {
  const auto check = [&](const Shape& a, const Shape& b) {
    const Shape batch =
        heed::broadcast("matmul", a.without(-1).without(-1), b.without(-1).without(-1));
    g.check({.name = fmt::format("product of a {} and b {}", a, b),
             .inputs = {a, b},
             .result = batch.inserted(batch.rank(), a[-2]).inserted(batch.rank() + 1, b[-1]),
             .op = [=](Tensors x) { return answer(x[0], x[1]); },
             .definition =
                 [=](Arrays x, const Index& i) {
                   return sum_over(a[-1], [&](int64_t p) {
                     return x[0](i.with(i.rank - 1, p)) * x[1](i.with(i.rank - 2, p));
                   });
                 },
             .arguments = {"a", "b"}});
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
namespace {
namespace matmul_backward_answers {

// The matrices of one product of a batch: a (m, k), b (k, n), dc (m, n). Each is read only when a
// term asks for it.
struct Product {
  struct Matrix {
    const real* data;
    int64_t columns;
    double operator()(int64_t row, int64_t column) const { return data[row * columns + column]; }
  };
  Matrix a, b, dc;
  int64_t m, n;
};
// What da[i, p] gets from column j of dc, and db[p, j] from row i.
using Term = double (*)(const Product& x, int64_t i, int64_t p, int64_t j);

double term_of_a(const Product& x, int64_t i, int64_t p, int64_t j) {
  return x.dc(i, j) * x.b(p, j);
}
double term_of_b(const Product& x, int64_t i, int64_t p, int64_t j) {
  return x.a(i, p) * x.dc(i, j);
}

// The solution with these terms. It does not multiply matrices by matmul: that is what a learner's
// program replaces.
Tensor product(const Tensor& a, const Tensor& b, Term of_a, Term of_b) {
  const Shape shape_a = a.shape(), shape_b = b.shape();
  const int64_t m = a.dim(-2), k = a.dim(-1), n = b.dim(-1);
  const Shape batch =
      broadcast("matmul", shape_a.without(-1).without(-1), shape_b.without(-1).without(-1));
  Tensor c = Tensor::zeros(batch.inserted(batch.rank(), m).inserted(batch.rank() + 1, n));
  // Calls f(matrix of a, matrix of b, matrix of c), each the index of its first element.
  const auto for_batch = [=](auto f) {
    for (int64_t at = 0; at < batch.size(); ++at) {
      const Index first =
          index_of(batch, at).inserted(batch.rank(), 0).inserted(batch.rank() + 1, 0);
      f(broadcast_at(shape_a, first), broadcast_at(shape_b, first), at * m * n);
    }
  };
  for_batch([&](int64_t at_a, int64_t at_b, int64_t at_c) {
    for (int64_t i = 0; i < m; ++i)
      for (int64_t p = 0; p < k; ++p)
        for (int64_t j = 0; j < n; ++j)
          c.mutable_data()[at_c + i * n + j] +=
              a.data()[at_a + i * k + p] * b.data()[at_b + p * n + j];
  });
  return record("matmul", c, {a, b}, [=, as = saved(a, b), bs = saved(b, a)](Backward& g) {
    const auto slot = [&](int i, const Shape& shape) {
      return g.wants(i) ? slot_to_add_to(g.into(i), shape.size()) : Destination{};
    };
    const Destination da = slot(0, shape_a), db = slot(1, shape_b);
    const auto from = [](const real* data, int64_t first) { return data ? data + first : nullptr; };
    for_batch([&](int64_t at_a, int64_t at_b, int64_t at_c) {
      const Product x{
          {from(as.data(), at_a), k}, {from(bs.data(), at_b), n}, {g.dy() + at_c, n}, m, n};
      for (int64_t i = 0; i < m; ++i)
        for (int64_t p = 0; p < k; ++p)
          for (int64_t j = 0; j < n; ++j) {
            if (da.data) da.data[at_a + i * k + p] += of_a(x, i, p, j);
            if (db.data) db.data[at_b + p * n + j] += of_b(x, i, p, j);
          }
    });
  });
}

template <auto term>
Tensor wrong_a(const Tensor& a, const Tensor& b) {
  return product(a, b, term, term_of_b);
}
template <auto term>
Tensor wrong_b(const Tensor& a, const Tensor& b) {
  return product(a, b, term_of_a, term);
}
using X = const Product&;

// Of square matrices, which come first.
const Exercise matmul_backward_exercise(
    "matmul_backward", grade_matmul_backward, {matmul},
    {{"", wrong_a<term_of_a>},
     {"This is dc · b: here b must be transposed, da = dc · bᵀ.",
      wrong_a<[](X x, int64_t i, int64_t p, int64_t j) { return x.dc(i, j) * x.b(j, p); }>},
     {"This is a · dc: here a must be transposed, db = aᵀ · dc.",
      wrong_b<[](X x, int64_t i, int64_t p, int64_t j) { return x.a(p, i) * x.dc(i, j); }>},
     {"This is bᵀ · dc: the factors are in the wrong order, da = dc · bᵀ.",
      wrong_a<[](X x, int64_t i, int64_t p, int64_t j) { return x.b(j, i) * x.dc(j, p); }>},
     {"This is dc · aᵀ: the factors are in the wrong order, db = aᵀ · dc.",
      wrong_b<[](X x, int64_t i, int64_t p, int64_t j) { return x.dc(p, i) * x.a(j, i); }>},
     {"This is aᵀ · dc, the gradient of b.",
      wrong_a<[](X x, int64_t i, int64_t p, int64_t j) { return x.a(j, i) * x.dc(j, p); }>},
     {"This is dc · bᵀ, the gradient of a.",
      wrong_b<[](X x, int64_t i, int64_t p, int64_t j) { return x.dc(p, i) * x.b(j, i); }>},
     {"This is the transpose of the gradient: da[i * k + p] is row i, column p.",
      wrong_a<[](X x, int64_t i, int64_t p, int64_t j) { return x.dc(p, j) * x.b(i, j); }>},
     {"This is the transpose of the gradient: db[p * n + j] is row p, column j.",
      wrong_b<[](X x, int64_t i, int64_t p, int64_t j) { return x.a(i, j) * x.dc(i, p); }>},
     {"The factor dc is missing: this is the sum of a row of b, the gradient only if dc is 1.",
      wrong_a<[](X x, int64_t, int64_t p, int64_t j) { return x.b(p, j); }>},
     {"The factor dc is missing: this is the sum of a column of a, the gradient only if dc is 1.",
      wrong_b<[](X x, int64_t i, int64_t p, int64_t) { return x.a(i, p); }>},
     {"Only the last column of dc arrives. Did you write da[…] = instead of +=?",
      wrong_a<[](X x, int64_t i, int64_t p, int64_t j) {
        return j + 1 < x.n ? 0 : term_of_a(x, i, p, j);
      }>},
     {"Only the last row of dc arrives. Did you write db[…] = instead of +=?",
      wrong_b<[](X x, int64_t i, int64_t p, int64_t j) {
        return i + 1 < x.m ? 0 : term_of_b(x, i, p, j);
      }>}});
HEED_TRAIN(matmul_backward, positional_encodings::relative);

}  // namespace matmul_backward_answers
}  // namespace
}  // namespace heed::course
