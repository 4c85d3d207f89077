#include "core/kernels/gemm/gemm.h"

#include <cblas.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

#include "core/check.h"
#include "core/kernels/bfloat16/bfloat16.h"
#include "core/kernels/gemm/few_rows.h"
#include "core/kernels/gemm/tiled.h"
#include "core/parallel.h"
#include "core/scope.h"

// OpenBLAS's choice of kernels for the processor; absent where it was built for one processor
// alone.
extern "C" {
void openblas_read_env() __attribute__((weak));
void gotoblas_dynamic_init() __attribute__((weak));
void gotoblas_dynamic_quit() __attribute__((weak));
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

// Once, before the first product. OpenBLAS must leave the cutting to us; and where it does not know
// the processor, because it is older, it falls back to kernels of 2004 (measured: 35 GFLOP/s a core
// where 180 are to be had), so it is told which ones to use. OPENBLAS_CORETYPE, if set, decides
// instead.
void prepare_blas() {
  static const bool done = [] {
    openblas_set_num_threads(1);  // frees what further threads would need: not twice at once
    if (std::getenv("OPENBLAS_CORETYPE") || !gotoblas_dynamic_init || !gotoblas_dynamic_quit)
      return true;
    if (std::string_view(openblas_get_corename()) != "Prescott") return true;
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (!avx2) return true;
    setenv("OPENBLAS_CORETYPE", avx512 ? "SkylakeX" : "Haswell", 1);
    openblas_read_env();
    gotoblas_dynamic_quit();
    gotoblas_dynamic_init();
    unsetenv("OPENBLAS_CORETYPE");
    return true;
  }();
  // The number belongs to OpenMP, which keeps one for each thread of a program; what is set inside
  // a parallel region ends with it, and there BLAS stays alone anyway.
  static thread_local bool alone = false;
  if (done && !alone && !in_openmp_region()) {
    openblas_set_num_threads(1);
    alone = true;
  }
}

// How many pieces the rows and the columns of a product are cut into: as many in all as there are
// threads, but none of less than a million multiplications or a side of less than 16. What a piece
// reads is its rows of a and its columns of b; rows count twice, for they were made by the thread
// that is to have them.
struct Grid {
  int64_t down = 1, across = 1;
  Grid(int64_t m, int64_t n, int64_t k, int64_t most) {
    constexpr double least_work = 1e6;
    const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    const int64_t most_down = std::max<int64_t>(1, m / 16),
                  most_across = std::max<int64_t>(1, n / 16);
    auto pieces =
        static_cast<int64_t>(std::clamp(work / least_work, 1.0, static_cast<double>(most)));
    for (int64_t least = std::numeric_limits<int64_t>::max(); pieces > 1; --pieces) {
      for (int64_t d = 1; d <= std::min(pieces, most_down); ++d) {
        const int64_t cost = 2 * m / d + n * d / pieces;
        if (pieces % d != 0 || pieces / d > most_across || cost >= least) continue;
        least = cost, down = d, across = pieces / d;
      }
      if (down * across > 1) return;
    }
  }
};

// Where piece i of n columns begins, cut into `pieces`: at a whole vector.
int64_t cut_columns(int64_t n, int64_t pieces, int64_t i) {
  return i == pieces ? n : (n * i / pieces + 8) / 16 * 16;
}

void check_product(const Matrix& a, const Matrix& b) {
  constexpr int64_t limit = std::numeric_limits<blasint>::max();
  check(a.columns == b.rows, "gemm: {} columns against {} rows", a.columns, b.rows);
  check(std::max({a.rows, a.columns, b.columns, a.leading, b.leading}) <= limit,
        "gemm: a matrix side of more than {}", limit);
}

void gemm_blas(const Matrix& a, const Matrix& b, Destination c, int64_t leading_c, real scale,
               const real* bias, const Epilogue& finish) {
  const int64_t m = a.rows, n = b.columns, k = a.columns;
  if (bias) {  // BLAS leaves it to the caller
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        real& to = c.data[i * leading_c + j];
        to = (c.accumulate ? to : real{0}) + bias[j];
      }
    c.accumulate = true;
  }
  prepare_blas();
  blas(a.transposed ? CblasTrans : CblasNoTrans, b.transposed ? CblasTrans : CblasNoTrans,
       static_cast<blasint>(m), static_cast<blasint>(n), static_cast<blasint>(k), scale, a.data,
       static_cast<blasint>(a.leading), b.data, static_cast<blasint>(b.leading),
       c.accumulate ? real{1} : real{0}, c.data, static_cast<blasint>(leading_c));
  finish(0, m, 0, n);
}

// What makes a product, or each piece of one.
using Kernel = void (*)(const Matrix& a, const Matrix& b, Destination c, int64_t leading_c,
                        real scale, const real* bias, const Epilogue& finish);

Kernel kernel_for(const Matrix& a, const Matrix& b) {
  if (has_few_rows(a, b)) return gemm_few_rows;
  return tiles_pay(a.rows, b.columns, a.columns) ? gemm_tiled : gemm_blas;
}

}  // namespace

void gemm_serial(const Matrix& a, const Matrix& b, Destination c, int64_t leading_c, real scale,
                 const real* bias, Precision precision) {
  const int64_t ldc = leading_c ? leading_c : b.columns;
  if (a.rows == 0 || b.columns == 0) return;
  if (gemm_bfloat16(a, b, c, ldc, scale, bias, precision)) return;
  kernel_for(a, b)(a, b, c, ldc, scale, bias, {});
}

void gemm(const Matrix& a, const Matrix& b, Destination c, int64_t leading_c, real scale,
          const real* bias, Epilogue finish) {
  check_product(a, b);
  const int64_t m = a.rows, n = b.columns, k = a.columns;
  if (m == 0 || n == 0) return;
  const int64_t ldc = leading_c ? leading_c : n;
  const bool made = gemm_bfloat16(a, b, c, ldc, scale, bias, scope().precision);
  if (made && !finish.run) return;
  // Our own kernels add up each number of c in the same order, however the whole is cut. Not so
  // BLAS, whose pieces are therefore as many for any number of threads.
  const Kernel kernel = kernel_for(a, b);
  const Grid grid(m, n, k, kernel == gemm_blas ? 16 : thread_count());
  parallel_for(grid.down * grid.across, 1, [&](int64_t first, int64_t last) {
    for (int64_t piece = first; piece < last; ++piece) {
      const int64_t i = piece / grid.across, j = piece % grid.across;
      const int64_t top = m * i / grid.down, rows = m * (i + 1) / grid.down - top;
      const int64_t left = cut_columns(n, grid.across, j);
      const int64_t columns = cut_columns(n, grid.across, j + 1) - left;
      if (made)
        finish(top, top + rows, left, left + columns);
      else
        kernel(a.part(top, rows, 0, k), b.part(0, k, left, columns),
               {c.data + top * ldc + left, c.accumulate}, ldc, scale, bias ? bias + left : nullptr,
               finish.from(top, left));
    }
  });
}

BatchIndex::BatchIndex(const Shape& batch, const Shape& operand, int64_t numbers)
    : rank_(batch.rank()) {
  for (int a = rank_ - 1; a >= 0; --a) {
    const int own = a - (rank_ - operand.rank());
    const auto axis = static_cast<size_t>(a);
    lengths_[axis] = batch[a];
    strides_[axis] = own < 0 || operand[own] == 1 ? 0 : numbers;
    if (own >= 0) numbers *= operand[own];
  }
}

int64_t BatchIndex::operator()(int64_t i) const {
  int64_t offset = 0;
  for (int a = rank_ - 1; a >= 0; --a) {
    const auto axis = static_cast<size_t>(a);
    offset += i % lengths_[axis] * strides_[axis];
    i /= lengths_[axis];
  }
  return offset;
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
  if (count < 4) {  // few: share each
    for (int64_t i = 0; i < count; ++i)
      product(i, [](const auto&... operands) { gemm(operands...); });
    return;
  }
  const Precision precision = scope().precision;  // workers have scopes of their own
  const int64_t work = std::max<int64_t>(1, a.rows * a.columns * b.columns);
  parallel_for(count, 1 + 200'000 / work, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      product(i, [precision](const auto&... operands) {
        gemm_serial(operands..., 0, 1, nullptr, precision);
      });
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
