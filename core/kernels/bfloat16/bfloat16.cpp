#include "core/kernels/bfloat16/bfloat16.h"

#include "core/kernels/bfloat16/tile_product.h"

#ifdef HEED_DOUBLE

namespace heed::inline HEED_REAL::kernels {

const TileKernels* tile_kernels() { return nullptr; }

bool gemm_bfloat16(const Matrix&, const Matrix&, Destination, const GemmOptions&, Precision) {
  return false;
}

bool uses_bfloat16(int64_t, int64_t, int64_t, Precision) { return false; }

int64_t packed_words(int64_t, int64_t) { return 0; }

void pack_ahead(const TileKernels&, const Matrix&, int64_t, uint32_t*) {}

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
// Whether the processor has AMX with bfloat16, and the operating system saves the tiles at a
// context switch (bits 17 and 18 of XCR0).
bool processor_has_amx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned os_uses_xsave = 1u << 27, amx_bf16 = 1u << 22, amx_tile = 1u << 24;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & os_uses_xsave)) return false;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & amx_bf16) || !(d & amx_tile)) return false;
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr uint32_t tile_state = 3u << 17;
  return (low & tile_state) == tile_state && has_avx512_bfloat16();
}

bool processor_is_amd() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0, &a, &b, &c, &d) && b == signature_AMD_ebx && c == signature_AMD_ecx &&
         d == signature_AMD_edx;
}

// Asks Linux for permission to use the tiles (8 KiB a thread), for all threads of the process.
bool system_permits_tiles() {
  constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

const TileKernels* find_tile_kernels() {
  if (processor_has_amx() && system_permits_tiles()) return &amx_kernels;
  return processor_is_amd() && has_avx512_bfloat16() ? &avx512_kernels : nullptr;
}
#else
const TileKernels* find_tile_kernels() { return nullptr; }
#endif

// The limits of a slice: 512 terms, 2048 rows of a and 2048 columns of b. Its panels take up to 8
// MiB (in `high`).
constexpr int64_t slice_terms = 512, slice_side = 2048;
// A task multiplies one panel of a by at most so many panels of b, which take 512 KiB in `high`.
constexpr int64_t panels_in_task = 8;

// The packing buffer of a thread. It grows as needed and is never returned.
class PackingBuffer {
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

// Panels that so many rows of a, or columns of b, take.
int64_t panel_count(int64_t lines) { return (lines + block_side - 1) / block_side; }

// Tiles that so many terms take.
int64_t step_count(int64_t terms) { return (terms + tile_terms - 1) / tile_terms; }

// The rows of m as lines.
Lines rows_of(const Matrix& m) {
  return m.transposed ? Lines{m.data, 1, m.leading} : Lines{m.data, m.leading, 1};
}

// Where the panel of terms [p, p + terms) and columns [j, j + 32) of an operand packed ahead
// begins: the panels of all columns follow each other, slice of terms by slice.
int64_t panel_offset(int64_t columns, int64_t p, int64_t terms, int64_t j) {
  return panel_count(columns) * panel_words(step_count(p), false) +
         panel_count(j) * panel_words(step_count(terms), false);
}

// Packs columns [j, j + 32) of b, terms [p, p + terms), as a panel of the right operand.
void pack_columns(const TileKernels& tiles, const Matrix& b, int64_t p, int64_t terms, int64_t j,
                  bool split, uint32_t* panel) {
  const int64_t columns = std::min(block_side, b.columns - j);
  tiles.pack(rows_of(b.block(p, terms, j, columns).t()), columns, terms, true, split, panel);
}

// The values of a panel of a right operand in `medium`: (terms, 32), padded to whole tiles.
void unpack(const uint32_t* panel, int64_t terms, float* to) {
  for (int64_t p = 0; p < terms; p += 2)
    for (int64_t j = 0; j < block_side; ++j) {
      const uint32_t pair =
          panel[p / tile_terms * panel_words(1, false) + j / tile_lines * tile_words +
                p % tile_terms / 2 * tile_lines + j % tile_lines];
      to[p * block_side + j] = __builtin_bit_cast(float, pair << 16);
      to[(p + 1) * block_side + j] = __builtin_bit_cast(float, pair & 0xffff0000);
    }
}

// One slice of a product.
struct Slice {
  const TileKernels& tiles;
  Matrix a, b;
  Destination c;
  GemmOptions options;
  bool split;              // `high`
  uint32_t *left, *right;  // the panels of a, and of b if it is not packed ahead

  const uint32_t* right_panel(int64_t j) const {
    return (b.packed ? b.packed : right) + j * panel();
  }
  int64_t steps() const { return step_count(a.columns); }
  int64_t panel() const { return panel_words(steps(), split); }

  // Packs panel i of a, or, for i from the number of those on, of b.
  void pack(int64_t i) const {
    if (const int64_t j = i - panel_count(a.rows); j >= 0)
      return pack_columns(tiles, b, 0, b.rows, j * block_side, split, right + j * panel());
    const int64_t lines = std::min(block_side, a.rows - i * block_side);
    tiles.pack(rows_of(a.block(i * block_side, lines, 0, a.columns)), lines, a.columns, false,
               split, left + i * panel());
  }

  // Computes the block of c that panel i of a and panel j of b give.
  void multiply(int64_t i, int64_t j) const {
    const int64_t top = i * block_side, start = j * block_side;
    const int64_t rows = std::min(block_side, a.rows - top);
    const int64_t columns = std::min(block_side, b.columns - start);
    const Destination to{c.data + top * options.leading_c + start, c.accumulate};
    const GemmOptions block = options.shifted(top, start);
    if (!tiles.multiply(
            left + i * panel(), right_panel(j), steps(), split,
            {to.data, block.leading_c, rows, columns, to.accumulate, block.scale, block.bias}))
      multiply_in_float32(a.block(top, rows, 0, a.columns), j, to, block);
  }

  // The same in float32.
  void multiply_in_float32(const Matrix& rows, int64_t j, Destination to,
                           const GemmOptions& block) const {
    const int64_t start = j * block_side, columns = std::min(block_side, b.columns - start);
    if (!b.packed)
      return gemm_serial(rows, b.block(0, b.rows, start, columns), to, Precision::highest, block);
    float values[slice_terms * block_side];
    unpack(right_panel(j), b.rows, values);
    gemm_serial(rows, Matrix(values, b.rows, columns, block_side), to, Precision::highest, block);
  }

  // Packs all panels of a, and of b if it is not packed yet, then multiplies. A chunk of work is at
  // least 16,384 elements to pack, or four million multiplications.
  void run(bool pack_b) const {
    const int64_t rows = panel_count(a.rows), columns = panel_count(b.columns);
    parallel_for(rows + (pack_b ? columns : 0), chunk_rows(block_side * a.columns),
                 [&](int64_t first, int64_t last) {
                   for (int64_t i = first; i < last; ++i) pack(i);
                 });
    // Groups of panels of b of nearly equal size, so that the threads' parts are equal too.
    const int64_t groups = (columns + panels_in_task - 1) / panels_in_task;
    const int64_t work = block_side * block_side * (columns / groups) * a.columns;
    parallel_for(groups * rows, 1 + (int64_t{1} << 22) / work, [&](int64_t first, int64_t last) {
      tiles.configure();
      for (int64_t task = first; task < last; ++task) {  // a group, for all of a
        const int64_t group = task / rows, end = (group + 1) * columns / groups;
        for (int64_t j = group * columns / groups; j < end; ++j) multiply(task % rows, j);
      }
      tiles.release();
    });
  }
};

}  // namespace

bool has_avx512_bfloat16() {
#ifdef __x86_64__
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & 1u << 5) &&
         __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
#else
  return false;
#endif
}

const TileKernels* tile_kernels() {
  static const TileKernels* const found = find_tile_kernels();
  return found;
}

void gemm_on_tiles(const TileKernels& tiles, const Matrix& a, const Matrix& b, Destination c,
                   const GemmOptions& options, Precision precision) {
  const int64_t m = a.rows, n = b.columns, k = a.columns;
  if (k == 0) return gemm_serial(a, b, c, Precision::highest, options);
  const bool split = precision == Precision::high;
  const int64_t panel = panel_words(step_count(std::min(k, slice_terms)), split);
  const int64_t left_words = panel_count(std::min(m, slice_side)) * panel;
  uint32_t* const left = per_thread<PackingBuffer>().get(
      left_words + (b.packed ? 0 : panel_count(std::min(n, slice_side)) * panel));
  for (int64_t j = 0; j < n; j += slice_side)
    for (int64_t p = 0; p < k; p += slice_terms)
      for (int64_t i = 0; i < m; i += slice_side) {
        const int64_t terms = std::min(slice_terms, k - p);
        const int64_t rows = std::min(slice_side, m - i), columns = std::min(slice_side, n - j);
        GemmOptions slice_options = options.shifted(i, j);
        slice_options.epilogue = {};
        if (p > 0) slice_options.bias = nullptr;
        const Destination to{c.data + i * options.leading_c + j, c.accumulate || p > 0};
        const Matrix b_slice =
            b.packed ? Matrix::packed_ahead(b.packed + panel_offset(n, p, terms, j), terms, columns)
                     : b.block(p, terms, j, columns);
        Slice{tiles, a.block(i, rows, p, terms), b_slice, to, slice_options, split,
              left,  left + left_words}
            .run(i == 0 && !b.packed);
      }
}

int64_t packed_words(int64_t k, int64_t n) {
  return panel_count(n) * panel_words(step_count(k), false);
}

void pack_ahead(const TileKernels& tiles, const Matrix& b, int64_t rows_in_part, uint32_t* panels) {
  const int64_t columns = panel_count(b.columns), words = packed_words(rows_in_part, b.columns);
  const int64_t slices = (rows_in_part + slice_terms - 1) / slice_terms;  // of a part
  const int64_t parts = (b.rows + rows_in_part - 1) / rows_in_part;
  const auto pack = [&](int64_t i) {
    const int64_t part = i / (slices * columns), j = i % columns * block_side;
    const int64_t p = i / columns % slices * slice_terms, row = part * rows_in_part;
    const int64_t rows = std::min(rows_in_part, b.rows - row);
    if (p >= rows) return;  // the last part may have fewer slices
    const int64_t terms = std::min(slice_terms, rows - p);
    pack_columns(tiles, b, row + p, terms, j, false,
                 panels + part * words + panel_offset(b.columns, p, terms, j));
  };
  parallel_for(parts * slices * columns,
               chunk_rows(block_side * std::min(rows_in_part, slice_terms)),
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; ++i) pack(i);
               });
}

// Float32 is better for small products. Packing costs m k + k n steps, which the product's m n k
// must outweigh. A tile takes 32 terms even if there are fewer. And the error of a single term, up
// to 3e-5 in `high`, averages out only over many terms.
bool uses_bfloat16(int64_t m, int64_t n, int64_t k, Precision precision) {
  return effective_precision(precision) != Precision::highest && k >= tile_terms / 2 &&
         m * n >= 16 * (m + n);
}

bool gemm_bfloat16(const Matrix& a, const Matrix& b, Destination c, const GemmOptions& options,
                   Precision precision) {
  if (!uses_bfloat16(a.rows, b.columns, a.columns, precision)) return false;
  gemm_on_tiles(*tile_kernels(), a, b, c, options, precision);
  return true;
}

}  // namespace heed::inline HEED_REAL::kernels

#endif
