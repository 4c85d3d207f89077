#include "core/kernels/bfloat16/bfloat16.h"

#include "core/kernels/bfloat16/amx.h"
#include "core/kernels/bfloat16/tile_product.h"

#ifdef HEED_DOUBLE

namespace heed::inline HEED_REAL::kernels {

const TileKernels* tile_kernels() { return nullptr; }

bool gemm_bfloat16(const Matrix&, const Matrix&, Destination, int64_t, real, const real*,
                   Precision) {
  return false;
}

}  // namespace heed::inline HEED_REAL::kernels

#else

#include <algorithm>
#include <memory>
#include <new>

#include "core/parallel.h"
#include "core/per_thread.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace heed::inline HEED_REAL::kernels {
namespace {

#ifdef __x86_64__
// The processor has AMX with bfloat16 and what amx.cpp was compiled for, and the system keeps the
// tiles of a thread that has to wait (bits 17 and 18 of XCR0).
bool processor_has_amx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned os_uses_xsave = 1u << 27, amx_bf16 = 1u << 22, amx_tile = 1u << 24;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & os_uses_xsave)) return false;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & amx_bf16) || !(d & amx_tile)) return false;
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr uint32_t tile_state = 3u << 17;
  return (low & tile_state) == tile_state && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq");
}

// Linux lends the tiles, 8 KiB a thread, to a process that asks: for all of its threads.
bool system_lends_tiles() {
  constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

const TileKernels* find_tile_kernels() {
  return processor_has_amx() && system_lends_tiles() ? &amx_kernels : nullptr;
}
#else
const TileKernels* find_tile_kernels() { return nullptr; }
#endif

// What is packed at a time: 512 terms of 2048 rows and of 2048 columns, 8 MiB at most (in `high`).
constexpr int64_t slice = 512, side = 2048;
// A task is one panel of a against so many panels of b: in `high` those are 512 KiB.
constexpr int64_t panels_in_task = 8;

// Packed panels, kept by each thread that multiplies: it grows until it fits and then settles.
class Panels {
 public:
  uint32_t* get(int64_t words) {
    if (words > words_) {
      memory_.reset();
      words_ = 0;
      memory_.reset(static_cast<uint32_t*>(
          ::operator new(static_cast<size_t>(words) * sizeof(uint32_t), alignment)));
      words_ = words;
    }
    return memory_.get();
  }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(uint32_t* memory) const { ::operator delete(memory, alignment); }
  };
  std::unique_ptr<uint32_t, Free> memory_;
  int64_t words_ = 0;
};

int64_t panels_of(int64_t lines) { return (lines + block_side - 1) / block_side; }

// The rows of m.
Lines lines_of(const Matrix& m) {
  return m.transposed ? Lines{m.data, 1, m.leading} : Lines{m.data, m.leading, 1};
}

// One slice of a product: at most `side` rows and columns and `slice` terms.
struct Slice {
  const TileKernels& tiles;
  Matrix a, b;
  Destination c;
  int64_t leading_c;
  real scale;
  const real* bias;
  bool split;
  uint32_t *left, *right;  // packed panels

  int64_t steps() const { return (a.columns + tile_terms - 1) / tile_terms; }
  int64_t panel() const { return panel_words(steps(), split); }

  // Panel i of a, or, behind those, of b.
  void pack(int64_t i) const {
    const bool of_b = i >= panels_of(a.rows);
    if (of_b) i -= panels_of(a.rows);
    const Matrix& m = of_b ? b.t() : a;
    const int64_t lines = std::min(block_side, m.rows - i * block_side);
    tiles.pack(lines_of(m.part(i * block_side, lines, 0, m.columns)), lines, m.columns, of_b, split,
               (of_b ? right : left) + i * panel());
  }

  // The block where panel i of a meets panel j of b.
  void multiply(int64_t i, int64_t j) const {
    const int64_t top = i * block_side, start = j * block_side;
    const int64_t rows = std::min(block_side, a.rows - top);
    const int64_t columns = std::min(block_side, b.columns - start);
    const Destination to{c.data + top * leading_c + start, c.accumulate};
    const real* const bias_here = bias ? bias + start : nullptr;
    if (!tiles.multiply(left + i * panel(), right + j * panel(), steps(), split,
                        {to.data, leading_c, rows, columns, to.accumulate, scale, bias_here}))
      gemm_serial(a.part(top, rows, 0, a.columns), b.part(0, b.rows, start, columns), to, leading_c,
                  scale, bias_here);
  }

  // Packs all panels of a, and of b if it is not packed yet; then multiplies. Work is handed out by
  // the 16,384 numbers to pack and by the four million terms.
  void run(bool pack_b) const {
    const int64_t down = panels_of(a.rows), across = panels_of(b.columns);
    parallel_for(down + (pack_b ? across : 0), chunk_rows(block_side * a.columns),
                 [&](int64_t first, int64_t last) {
                   for (int64_t i = first; i < last; ++i) pack(i);
                 });
    const int64_t groups = (across + panels_in_task - 1) / panels_in_task;
    const int64_t work = block_side * block_side * std::min(across, panels_in_task) * a.columns;
    parallel_for(groups * down, 1 + (int64_t{1} << 22) / work, [&](int64_t first, int64_t last) {
      tiles.configure();
      for (int64_t task = first; task < last; ++task) {  // the same panels of b for all of a
        const int64_t j = task / down * panels_in_task, end = std::min(across, j + panels_in_task);
        for (int64_t panel_of_b = j; panel_of_b < end; ++panel_of_b)
          multiply(task % down, panel_of_b);
      }
      tiles.release();
    });
  }
};

}  // namespace

const TileKernels* tile_kernels() {
  static const TileKernels* const found = find_tile_kernels();
  return found;
}

void gemm_on_tiles(const TileKernels& tiles, const Matrix& a, const Matrix& b, Destination c,
                   int64_t leading_c, real scale, const real* bias, Precision precision) {
  const int64_t m = a.rows, n = b.columns, k = a.columns;
  const int64_t ldc = leading_c ? leading_c : n;
  if (k == 0) return gemm_serial(a, b, c, ldc, scale, bias);
  const bool split = precision == Precision::high;
  const int64_t panel = panel_words((std::min(k, slice) + tile_terms - 1) / tile_terms, split);
  const int64_t left_words = panels_of(std::min(m, side)) * panel;
  uint32_t* const left =
      per_thread<Panels>().get(left_words + panels_of(std::min(n, side)) * panel);
  for (int64_t j = 0; j < n; j += side) {
    for (int64_t p = 0; p < k; p += slice) {
      const int64_t terms = std::min(slice, k - p), columns = std::min(side, n - j);
      for (int64_t i = 0; i < m; i += side) {
        const int64_t rows = std::min(side, m - i);
        Slice{tiles,
              a.part(i, rows, p, terms),
              b.part(p, terms, j, columns),
              {c.data + i * ldc + j, c.accumulate || p > 0},
              ldc,
              scale,
              bias && p == 0 ? bias + j : nullptr,
              split,
              left,
              left + left_words}
            .run(i == 0);
      }
    }
  }
}

// Packing costs m k + k n steps, which m n k terms must pay back; a tile takes 32 terms whether
// there are so many or not; and errors of single terms, which may be 3e-5 in `high`, need company
// to even out.
bool gemm_bfloat16(const Matrix& a, const Matrix& b, Destination c, int64_t leading_c, real scale,
                   const real* bias, Precision precision) {
  if (precision == Precision::highest || !tile_kernels()) return false;
  const int64_t m = a.rows, n = b.columns;
  if (a.columns < tile_terms / 2 || m * n < 16 * (m + n)) return false;
  gemm_on_tiles(*tile_kernels(), a, b, c, leading_c, scale, bias, precision);
  return true;
}

}  // namespace heed::inline HEED_REAL::kernels

#endif
