// The calls of BLAS (cmake/FindCBLAS.cmake). With HEED_NO_BLAS, for targets without it,
// gemm_tiled() replaces it.
#include "core/kernels/gemm/serial.h"

#ifdef HEED_NO_BLAS

namespace heed::inline HEED_REAL::kernels {

void gemm_blas(const MatrixView& a, const MatrixView& b, Destination c,
               const GemmOptions& options) {
  gemm_tiled(a, b, c, options);
}

const char* blas_backend() { return "none: every product by our own kernels"; }

}  // namespace heed::inline HEED_REAL::kernels

#else

#ifdef HEED_ACCELERATE
#include <Accelerate/Accelerate.h>
#else
#include <cblas.h>
#endif
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>

#ifdef HEED_OPENBLAS
extern "C" {
// OpenBLAS's choice of kernels for the processor; null where it was built for one processor.
void openblas_read_env() __attribute__((weak));
void gotoblas_dynamic_init() __attribute__((weak));
void gotoblas_dynamic_quit() __attribute__((weak));
// OpenMP's number of threads, a setting of each thread, which OpenBLAS follows, and whether the
// thread is in a parallel region. Null where OpenBLAS does not use OpenMP. Their names here differ
// from those in omp.h, whose declarations depend on the compiler.
int openmp_threads() __asm__("omp_get_max_threads") __attribute__((weak));
void set_openmp_threads(int count) __asm__("omp_set_num_threads") __attribute__((weak));
int openmp_in_parallel() __asm__("omp_in_parallel") __attribute__((weak));
}
#endif

namespace heed::inline HEED_REAL::kernels {
namespace {

#ifdef HEED_OPENBLAS

// OpenBLAS falls back to kernels of 2004 on an x86 processor that is newer than itself (measured:
// 35 GFLOP/s a core instead of 180). Selects better ones, unless OPENBLAS_CORETYPE is set.
void select_blas_kernels() {
#ifdef __x86_64__
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
#endif
}

// Makes OpenBLAS single-threaded on the calling thread: gemm() divides the work itself. Inside a
// parallel region OpenBLAS uses one thread anyway, and a setting made there ends with the region.
void prepare_blas() {
  static const bool once = [] {
    openblas_set_num_threads(1);  // not thread-safe: changes what all threads use
    select_blas_kernels();
    return true;
  }();
  // openblas_set_num_threads() sets OpenMP's number up to OpenBLAS 0.3.21, but not in 0.3.29, which
  // follows it all the same: products outside parallel regions would run on several threads.
  if (once && openmp_threads && !openmp_in_parallel() && openmp_threads() != 1)
    set_openmp_threads(1);
}

#else

// heed divides the work itself.
void prepare_blas() {
#ifdef HEED_ACCELERATE
  static const int once = setenv("VECLIB_MAXIMUM_THREADS", "1", 1);
  (void)once;
#endif
}

#endif

}  // namespace

void gemm_blas(const MatrixView& a, const MatrixView& b, Destination c,
               const GemmOptions& options) {
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
  const auto transpose_a = a.transposed ? CblasTrans : CblasNoTrans;
  const auto transpose_b = b.transposed ? CblasTrans : CblasNoTrans;
#ifdef HEED_DOUBLE
  const auto& multiply = cblas_dgemm;
#else
  const auto& multiply = cblas_sgemm;
#endif
  multiply(CblasRowMajor, transpose_a, transpose_b, static_cast<int>(m), static_cast<int>(n),
           static_cast<int>(k), options.scale, a.data, static_cast<int>(a.leading), b.data,
           static_cast<int>(b.leading), c.accumulate ? real{1} : real{0}, c.data,
           static_cast<int>(options.leading_c));
  options.epilogue(0, m, 0, n);
}

const char* blas_backend() {
#ifdef HEED_OPENBLAS
  prepare_blas();
  static const std::string text =
      fmt::format("{}, {}", openblas_get_config(),
                  openblas_get_parallel() == OPENBLAS_OPENMP ? "OpenMP build"
                                                             : "not the OpenMP build: slower here");
  return text.c_str();
#elif defined(HEED_ACCELERATE)
  return "Accelerate";
#else
  return HEED_BLAS_NAME;
#endif
}

}  // namespace heed::inline HEED_REAL::kernels

#endif
