// Dispatch of matrix products to kernels and threads, and the calls of OpenBLAS.
#include "core/kernels/gemm/gemm.h"

#include <cblas.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

#include "core/check.h"
#include "core/kernels/bfloat16/bfloat16.h"
#include "core/kernels/gemm/serial.h"
#include "core/observer.h"
#include "core/parallel.h"
#include "core/scope.h"

extern "C" {
// OpenBLAS's choice of kernels for the processor; null where it was built for one processor.
void openblas_read_env() __attribute__((weak));
void gotoblas_dynamic_init() __attribute__((weak));
void gotoblas_dynamic_quit() __attribute__((weak));
// OpenMP's number of threads, a setting of each thread, which OpenBLAS follows, and whether the
// thread is in a parallel region. Null where OpenBLAS does not use OpenMP.
int omp_get_max_threads() __attribute__((weak));
int omp_in_parallel() __attribute__((weak));
}

namespace heed::inline HEED_REAL::kernels {
namespace {

void blas(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, blasint m, blasint n, blasint k, real alpha,
          const real* a, blasint lda, const real* b, blasint ldb, real beta, real* c, blasint ldc) {
#ifdef HEED_DOUBLE
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
#else
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
#endif
}

// OpenBLAS falls back to kernels of 2004 on a processor that is newer than itself (measured: 35
// GFLOP/s a core instead of 180). Selects better ones, unless OPENBLAS_CORETYPE is set.
void select_blas_kernels() {
  if (std::getenv("OPENBLAS_CORETYPE") || !gotoblas_dynamic_init || !gotoblas_dynamic_quit) return;
  if (std::string_view(openblas_get_corename()) != "Prescott") return;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (!avx2) return;
  setenv("OPENBLAS_CORETYPE", avx512 ? "SkylakeX" : "Haswell", 1);
  openblas_read_env();
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  unsetenv("OPENBLAS_CORETYPE");
}

// Makes OpenBLAS single-threaded on the calling thread: gemm() divides the work itself. Inside a
// parallel region OpenBLAS uses one thread anyway, and a setting made there ends with the region.
void prepare_blas() {
  static const bool once = [] {
    openblas_set_num_threads(1);  // frees the buffers of further threads: not thread-safe
    select_blas_kernels();
    return true;
  }();
  if (once && omp_get_max_threads && !omp_in_parallel() && omp_get_max_threads() != 1)
    openblas_set_num_threads(1);
}

// The number of blocks that c is divided into, rows × columns: at most `limit`, none with less than
// a million multiplications or a side of less than 16. Among the grids of the most blocks, the one
// whose blocks read the fewest rows of a and columns of b. Rows count twice, as they were computed
// by the thread that will read them.
struct Grid {
  int64_t rows = 1, columns = 1;
  Grid(int64_t m, int64_t n, int64_t k, int64_t limit) {
    constexpr double min_work = 1e6;
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

void check_product(const Matrix& a, const Matrix& b) {
  constexpr int64_t limit = std::numeric_limits<blasint>::max();
  check(a.columns == b.rows, "gemm: a has {} columns, but b has {} rows", a.columns, b.rows);
  check(std::max({a.rows, a.columns, b.columns, a.leading, b.leading}) <= limit,
        "gemm: a side of a matrix is longer than {}", limit);
}

void gemm_blas(const Matrix& a, const Matrix& b, Destination c, const GemmOptions& options) {
  const int64_t m = a.rows, n = b.columns, k = a.columns;
  if (options.bias) {  // BLAS knows no bias: c starts as the bias, and the product is added
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        real& to = c.data[i * options.leading_c + j];
        to = (c.accumulate ? to : real{0}) + options.bias[j];
      }
    c.accumulate = true;
  }
  prepare_blas();
  blas(a.transposed ? CblasTrans : CblasNoTrans, b.transposed ? CblasTrans : CblasNoTrans,
       static_cast<blasint>(m), static_cast<blasint>(n), static_cast<blasint>(k), options.scale,
       a.data, static_cast<blasint>(a.leading), b.data, static_cast<blasint>(b.leading),
       c.accumulate ? real{1} : real{0}, c.data, static_cast<blasint>(options.leading_c));
  options.epilogue(0, m, 0, n);
}

// A single-threaded kernel. options.leading_c is never 0.
using Kernel = void (*)(const Matrix& a, const Matrix& b, Destination c,
                        const GemmOptions& options);

Kernel kernel_for(const Matrix& a, const Matrix& b) {
  if (has_few_rows(a, b)) return gemm_few_rows;
  return tiled_is_faster(a.rows, b.columns, a.columns) ? gemm_tiled : gemm_blas;
}

GemmOptions with_leading(GemmOptions options, const Matrix& b) {
  if (options.leading_c == 0) options.leading_c = b.columns;
  return options;
}

}  // namespace

void gemm_serial(const Matrix& a, const Matrix& b, Destination c, Precision precision,
                 const GemmOptions& options) {
  if (a.rows == 0 || b.columns == 0) return;
  const GemmOptions o = with_leading(options, b);
  if (gemm_bfloat16(a, b, c, o, precision)) return o.epilogue(0, a.rows, 0, b.columns);
  kernel_for(a, b)(a, b, c, o);
}

void gemm(const Matrix& a, const Matrix& b, Destination c, const GemmOptions& options) {
  check_product(a, b);
  const int64_t m = a.rows, n = b.columns, k = a.columns;
  if (m == 0 || n == 0) return;
  report_products(m, n, k);
  if (scope().shapes_only) return;
  const GemmOptions o = with_leading(options, b);
  const bool done = gemm_bfloat16(a, b, c, o, scope().precision);
  if (done && !o.epilogue.run) return;
  // Our own kernels sum in the same order however c is divided. BLAS may not, so that its number of
  // blocks does not depend on the number of threads.
  const Kernel kernel = kernel_for(a, b);
  const Grid grid(m, n, k, kernel == gemm_blas ? 16 : thread_count());
  parallel_for(grid.rows * grid.columns, 1, [&](int64_t first, int64_t last) {
    for (int64_t block = first; block < last; ++block) {
      const int64_t row = block / grid.columns, column = block % grid.columns;
      const int64_t i = m * row / grid.rows, height = m * (row + 1) / grid.rows - i;
      const int64_t j = first_column(n, grid.columns, column);
      const int64_t width = first_column(n, grid.columns, column + 1) - j;
      if (done)
        o.epilogue(i, i + height, j, j + width);
      else
        kernel(a.block(i, height, 0, k), b.block(0, k, j, width),
               {c.data + i * o.leading_c + j, c.accumulate}, o.shifted(i, j));
    }
  });
}

void gemm_batched(int64_t count, const Matrix& a, const BatchIndex& at_a, const Matrix& b,
                  const BatchIndex& at_b, Destination c) {
  check_product(a, b);
  const auto product = [&](int64_t i, auto multiply) {
    Matrix ai = a, bi = b;
    ai.data += at_a(i);
    bi.data += at_b(i);
    multiply(ai, bi, Destination{c.data + i * a.rows * b.columns, c.accumulate});
  };
  if (count < 4) {  // all threads work on each product
    for (int64_t i = 0; i < count; ++i)
      product(i, [](const auto&... operands) { gemm(operands...); });
    return;
  }
  report_products(a.rows, b.columns, a.columns, count);
  const Precision precision = scope().precision;
  const int64_t work = std::max<int64_t>(1, a.rows * a.columns * b.columns);
  parallel_for(count, 1 + 200'000 / work, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      product(i, [precision](const auto&... operands) { gemm_serial(operands..., precision); });
  });
}

const char* blas_backend() {
  prepare_blas();
  static const std::string text =
      fmt::format("{}, {}", openblas_get_config(),
                  openblas_get_parallel() == OPENBLAS_OPENMP ? "OpenMP build"
                                                             : "not the OpenMP build: slower here");
  return text.c_str();
}

}  // namespace heed::inline HEED_REAL::kernels
