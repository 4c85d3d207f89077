// Dispatch of matrix products to kernels and threads.
#include <algorithm>
#include <limits>

#include "core/check.h"
#include "core/kernels/bfloat16/bfloat16.h"
#include "core/kernels/gemm/serial.h"
#include "core/kernels/gemm/view.h"
#include "core/observer.h"
#include "core/parallel.h"
#include "core/scope.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

// The number of blocks that c is divided into, rows × columns: at most `limit`, none with less than
// `min_work` multiplications or a side of less than 16. Among the grids of the most blocks, the one
// whose blocks read the fewest rows of a and columns of b. Rows count twice, as they were computed
// by the thread that will read them.
struct Grid {
  int64_t rows = 1, columns = 1;
  Grid(int64_t m, int64_t n, int64_t k, int64_t limit, double min_work) {
    const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    const int64_t max_rows = std::max<int64_t>(1, m / 16),
                  max_columns = std::max<int64_t>(1, n / 16);
    auto blocks =
        static_cast<int64_t>(std::clamp(work / min_work, 1.0, static_cast<double>(limit)));
    for (int64_t least = std::numeric_limits<int64_t>::max(); blocks > 1; --blocks) {
      for (int64_t r = 1; r <= std::min(blocks, max_rows); ++r) {
        const int64_t cost = 2 * m / r + n * r / blocks;
        if (blocks % r != 0 || blocks / r > max_columns || cost >= least) continue;
        least = cost, rows = r, columns = blocks / r;
      }
      if (rows * columns > 1) return;
    }
  }
};

// The first column of block i of n columns in `blocks` blocks: a multiple of the vector length.
int64_t first_column(int64_t n, int64_t blocks, int64_t i) {
  return i == blocks ? n : (n * i / blocks + 8) / 16 * 16;
}

void check_product(const MatrixView& a, const MatrixView& b) {
  constexpr int64_t limit = std::numeric_limits<int32_t>::max();  // BLAS counts in int
  check(a.columns == b.rows, "gemm: a has {} columns, but b has {} rows", a.columns, b.rows);
  check(std::max({a.rows, a.columns, b.columns, a.leading, b.leading}) <= limit,
        "gemm: a side of a matrix is longer than {}", limit);
}

// A single-threaded kernel. options.leading_c is never 0.
using Kernel = void (*)(const MatrixView& a, const MatrixView& b, Destination c,
                        const GemmOptions& options);

Kernel kernel_for(const MatrixView& a, const MatrixView& b) {
  if (has_few_rows(a, b)) return gemm_few_rows;
  return tiled_is_faster(a, b) ? gemm_tiled : gemm_blas;
}

GemmOptions with_leading(GemmOptions options, const MatrixView& b) {
  if (options.leading_c == 0) options.leading_c = b.columns;
  return options;
}

}  // namespace

void gemm_serial(const MatrixView& a, const MatrixView& b, Destination c, Precision precision,
                 const GemmOptions& options) {
  if (a.rows == 0 || b.columns == 0) return;
  const GemmOptions o = with_leading(options, b);
  if (gemm_bfloat16(a, b, c, o, precision, 1)) return;
  kernel_for(a, b)(a, b, c, o);
}

void gemm_parallel(const MatrixView& a, const MatrixView& b, Destination c,
                   const GemmOptions& options) {
  check_product(a, b);
  const int64_t m = a.rows, n = b.columns, k = a.columns;
  if (m == 0 || n == 0) return;
  report(Work::multiplications, m, n, k);
  if (scope().shapes_only) return;
  const GemmOptions o = with_leading(options, b);
  if (gemm_bfloat16(a, b, c, o, scope().precision, thread_count())) return;
  // Our own kernels sum in the same order however c is divided. BLAS may not, so that its number of
  // blocks does not depend on the number of threads.
  const Kernel kernel = kernel_for(a, b);
  // A thread is worth a million multiplications, or 128 KiB of b where few rows read it.
  const double min_work = kernel == gemm_few_rows ? 32768.0 * static_cast<double>(m) : 1e6;
  const Grid grid(m, n, k, kernel == gemm_blas ? 16 : thread_count(), min_work);
  parallel_for(grid.rows * grid.columns, 1, [&](int64_t first, int64_t last) {
    for (int64_t block = first; block < last; ++block) {
      const int64_t row = block / grid.columns, column = block % grid.columns;
      const int64_t i = m * row / grid.rows, height = m * (row + 1) / grid.rows - i;
      const int64_t j = first_column(n, grid.columns, column);
      const int64_t width = first_column(n, grid.columns, column + 1) - j;
      kernel(a.block(i, height, 0, k), b.block(0, k, j, width),
             {c.data + i * o.leading_c + j, c.accumulate}, o.shifted(i, j));
    }
  });
}

void gemm(const Matrix& a, const Matrix& b, Destination c, const real* bias) {
  gemm_parallel(a, b, c, {.bias = bias});
}

void gemm_batched(const Axes<2>& axes, const Matrix& a, const Matrix& b, Destination c) {
  check_product(a, b);
  const auto product = [&](int64_t i, auto multiply) {
    const auto [m, n] = axes.offsets(i);
    MatrixView a_i = a, b_i = b;
    a_i.data += m * a.rows * a.columns;
    b_i.data += n * b.rows * b.columns;
    multiply(a_i, b_i, Destination{c.data + i * a.rows * b.columns, c.accumulate});
  };
  const int64_t count = axes.size();
  if (count < 4) {  // all threads work on each product
    for (int64_t i = 0; i < count; ++i)
      product(i, [](const auto&... operands) { gemm_parallel(operands...); });
    return;
  }
  report(Work::multiplications, a.rows, b.columns, a.columns, count);
  const Precision precision = scope().precision;
  const int64_t work = std::max<int64_t>(1, a.rows * a.columns * b.columns);
  parallel_for(count, 1 + 200'000 / work, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      product(i, [precision](const auto&... operands) { gemm_serial(operands..., precision); });
  });
}

}  // namespace heed::inline HEED_REAL::kernels
