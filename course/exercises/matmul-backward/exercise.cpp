// The gradients of a matrix product: write the two functions below. matmul(), which calls them,
// replaces the library's. The task is in course/exercises/matmul-backward/task.md; check it
// with
//
//   ./heed course check matmul-backward
#include <algorithm>

#include "core/autograd.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL {

// da += the gradient of a.   dc (m, n), b (k, n), da (m, k)
static void add_gradient_of_a(int64_t m, int64_t k, int64_t n, const real* dc, const real* b,
                              real* da) {
  // Write this: da[i * k + p] += …
  (void)m, (void)k, (void)n, (void)dc, (void)b, (void)da;
}

// db += the gradient of b.   dc (m, n), a (m, k), db (k, n)
static void add_gradient_of_b(int64_t m, int64_t k, int64_t n, const real* dc, const real* a,
                              real* db) {
  // Write this: db[p * n + j] += …
  (void)m, (void)k, (void)n, (void)dc, (void)a, (void)db;
}

// Nothing to write from here on. ------------------------------------------------------------------

// Where matrix number i of a batch is, among the matrices of an operand that was broadcast to it.
static int64_t matrix_of(int64_t i, const Shape& batch, const Shape& own) {
  int64_t at = 0, stride = 1;
  for (int axis = 1; axis <= own.rank(); ++axis) {
    const int64_t index = i % batch[-axis];
    i /= batch[-axis];
    if (own[-axis] != 1) at += index * stride;
    stride *= own[-axis];
  }
  return at;
}

// c[…, i, j] = Σₚ a[…, i, p] b[…, p, j]
Tensor matmul(const Tensor& a, const Tensor& b) {
  check(a.rank() >= 2 && b.rank() >= 2 && a.dim(-1) == b.dim(-2),
        "matmul: shapes {} and {} do not fit", a.shape(), b.shape());
  const int64_t m = a.dim(-2), k = a.dim(-1), n = b.dim(-1);
  const Shape batch_a = a.shape().without(-1).without(-1),
              batch_b = b.shape().without(-1).without(-1);
  const Shape batch = broadcast("matmul", batch_a, batch_b);
  Tensor c = Tensor::zeros(batch.inserted(batch.rank(), m).inserted(batch.rank() + 1, n));
  real* const to = c.mutable_data();
  for (int64_t at = 0; at < batch.size(); ++at) {
    const real* const from_a = a.data() + matrix_of(at, batch, batch_a) * m * k;
    const real* const from_b = b.data() + matrix_of(at, batch, batch_b) * k * n;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t p = 0; p < k; ++p)
        for (int64_t j = 0; j < n; ++j)
          to[(at * m + i) * n + j] += from_a[i * k + p] * from_b[p * n + j];
  }

  return record("matmul", c, {a, b}, [=, as = saved(a, b), bs = saved(b, a)](Backward& g) {
    if (g.wants(0)) {
      const Destination da = g.into(0);
      if (!da.accumulate) std::fill_n(da.data, batch_a.size() * m * k, real{0});
      for (int64_t at = 0; at < batch.size(); ++at)
        add_gradient_of_a(m, k, n, g.dy() + at * m * n,
                          bs.data() + matrix_of(at, batch, batch_b) * k * n,
                          da.data + matrix_of(at, batch, batch_a) * m * k);
    }
    if (g.wants(1)) {
      const Destination db = g.into(1);
      if (!db.accumulate) std::fill_n(db.data, batch_b.size() * k * n, real{0});
      for (int64_t at = 0; at < batch.size(); ++at)
        add_gradient_of_b(m, k, n, g.dy() + at * m * n,
                          as.data() + matrix_of(at, batch, batch_a) * m * k,
                          db.data + matrix_of(at, batch, batch_b) * k * n);
    }
  });
}

}  // namespace heed::inline HEED_REAL
