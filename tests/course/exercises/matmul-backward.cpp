// The exercise matmul-backward: its solution, its stub, and the mistakes that its grader names.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/autograd.h"
#include "core/ops.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_matmul_backward(Grader& g, Tensor (*matmul)(const Tensor& a, const Tensor& b));

namespace {

namespace matmul_backward_stub {
using namespace heed;
#include "course/exercises/matmul-backward/exercise.cpp"
}  // namespace matmul_backward_stub

using matmul_backward_stub::heed::matrix_of;

enum class MatmulFault {
  none,
  a_without_transpose,
  b_without_transpose,
  a_order,
  b_order,
  swapped,
  a_transposed,
  b_transposed,
  a_without_dc,
  b_without_dc,
  a_last,
  b_last
};

// The frame of the exercise, with gradients that have a fault: of one pair of matrices.
template <MatmulFault fault>
Tensor faulty_matmul(const Tensor& a, const Tensor& b) {
  using enum MatmulFault;
  const int64_t m = a.dim(-2), k = a.dim(-1), n = b.dim(-1);
  const Shape batch_a = a.shape().without(-1).without(-1),
              batch_b = b.shape().without(-1).without(-1);
  const Shape batch = broadcast("matmul", batch_a, batch_b);
  Tensor c = heed::matmul(a.detach(), b.detach());
  return record("matmul", c, {a, b}, [=, as = Saved(a), bs = Saved(b)](Backward& g) {
    const bool square = m == k && k == n;
    const Destination da = g.into_or_null(0), db = g.into_or_null(1);
    if (da.data && !da.accumulate) std::fill_n(da.data, batch_a.size() * m * k, real{0});
    if (db.data && !db.accumulate) std::fill_n(db.data, batch_b.size() * k * n, real{0});
    for (int64_t at = 0; at < batch.size(); ++at) {
      const int64_t at_a = matrix_of(at, batch, batch_a) * m * k;
      const int64_t at_b = matrix_of(at, batch, batch_b) * k * n;
      const real *const dc = g.dy() + at * m * n, *const pa = as.data() + at_a,
                        *const pb = bs.data() + at_b;
      if (da.data) {
        for (int64_t i = 0; i < m; ++i)
          for (int64_t p = 0; p < k; ++p)
            for (int64_t j = 0; j < n; ++j) {
              real value = dc[i * n + j] * pb[p * n + j];
              if (fault == a_without_dc) value = pb[p * n + j];
              if (fault == a_last && j + 1 < n) value = 0;
              if (square && fault == a_without_transpose) value = dc[i * n + j] * pb[j * n + p];
              if (square && fault == a_order) value = pb[j * n + i] * dc[j * n + p];
              if (square && fault == swapped) value = pa[j * k + i] * dc[j * n + p];
              if (square && fault == a_transposed) value = dc[p * n + j] * pb[i * n + j];
              da.data[at_a + i * k + p] += value;
            }
      }
      if (db.data) {
        for (int64_t i = 0; i < m; ++i)
          for (int64_t p = 0; p < k; ++p)
            for (int64_t j = 0; j < n; ++j) {
              real value = pa[i * k + p] * dc[i * n + j];
              if (fault == b_without_dc) value = pa[i * k + p];
              if (fault == b_last && i + 1 < m) value = 0;
              if (square && fault == b_without_transpose) value = pa[p * k + i] * dc[i * n + j];
              if (square && fault == b_order) value = dc[p * n + i] * pa[j * k + i];
              if (square && fault == b_transposed) value = pa[i * k + j] * dc[i * n + p];
              db.data[at_b + p * n + j] += value;
            }
      }
    }
  });
}

TEST_CASE("exercise matmul-backward: the solution and the library pass") {
  CHECK(graded(grade_matmul_backward, faulty_matmul<MatmulFault::none>) == "");
  CHECK(graded(grade_matmul_backward, heed::matmul) == "");
  const Tensor a = Grader(1).tensor({2, 1, 3, 4}, -1, 1), b = Grader(2).tensor({3, 4, 2}, -1, 1);
  const Tensor apart = sub(matmul_backward_stub::heed::matmul(a, b), matmul(a, b));
  CHECK(max(heed::mul(apart, apart)).item() < 1e-24);  // what the stub has computes the product
}

TEST_CASE("exercise matmul-backward: the stub and mistakes are named") {
  using enum MatmulFault;
  CHECK_NAMED("Every element of this gradient is 0", grade_matmul_backward,
              matmul_backward_stub::heed::matmul);
  CHECK_NAMED("here b must be transposed", grade_matmul_backward,
              faulty_matmul<a_without_transpose>);
  CHECK_NAMED("here a must be transposed", grade_matmul_backward,
              faulty_matmul<b_without_transpose>);
  CHECK_NAMED("This is bᵀ · dc", grade_matmul_backward, faulty_matmul<a_order>);
  CHECK_NAMED("This is dc · aᵀ", grade_matmul_backward, faulty_matmul<b_order>);
  CHECK_NAMED("the gradient of b", grade_matmul_backward, faulty_matmul<swapped>);
  CHECK_NAMED("da[i * k + p] is row i", grade_matmul_backward, faulty_matmul<a_transposed>);
  CHECK_NAMED("db[p * n + j] is row p", grade_matmul_backward, faulty_matmul<b_transposed>);
  CHECK_NAMED("the sum of a row of b", grade_matmul_backward, faulty_matmul<a_without_dc>);
  CHECK_NAMED("the sum of a column of a", grade_matmul_backward, faulty_matmul<b_without_dc>);
  CHECK_NAMED("Only the last column of dc", grade_matmul_backward, faulty_matmul<a_last>);
  CHECK_NAMED("Only the last row of dc", grade_matmul_backward, faulty_matmul<b_last>);
  CHECK_NAMED("does not know how it was computed", grade_matmul_backward,
              [](const Tensor& a, const Tensor& b) { return matmul(a, b).detach(); });
}

}  // namespace
}  // namespace heed::course
