#include "core/kernels/bfloat16/bfloat16.h"

#include "core/kernels/bfloat16/tile_product.h"

#ifdef HEED_DOUBLE

namespace heed::inline HEED_REAL::kernels {

const TileKernels* tile_kernels() { return nullptr; }

bool gemm_bfloat16(const MatrixView&, const MatrixView&, Destination, const GemmOptions&, Precision,
                   int64_t) {
  return false;
}

bool uses_bfloat16(int64_t, int64_t, int64_t, Precision) { return false; }

int64_t packed_words(int64_t, int64_t) { return 0; }

bool can_be_packed(int64_t, Precision) { return false; }

void pack_ahead(const TileKernels&, const MatrixView&, int64_t, uint32_t*) {}

}  // namespace heed::inline HEED_REAL::kernels

#else

#include <algorithm>
#include <limits>
#include <memory>
#include <new>

#include "core/parallel.h"
#include "core/per_thread.h"
#include "core/precision.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace heed::inline HEED_REAL::kernels {
namespace {

#ifdef __x86_64__
// Returns whether the processor has AMX with bfloat16, and the operating system saves the tiles at
// a context switch (bits 17 and 18 of XCR0).
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
#ifdef __linux__
  constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
  return false;
#endif
}

const TileKernels* find_tile_kernels() {
  if (processor_has_amx() && system_permits_tiles()) return &amx_kernels;
  return processor_is_amd() && has_avx512_bfloat16() ? &avx512_kernels : nullptr;
}
#else
const TileKernels* find_tile_kernels() { return nullptr; }
#endif

// A panel has at most 512 terms. The panels of b that are packed at once have at most 2048 columns,
// and take at most a million words (4 MiB) if they have more than 512 terms.
constexpr int64_t slice_terms = 512, slice_columns = 2048, max_right_words = int64_t{1} << 20;
// Panels of a that are multiplied by one of b while that is in the cache.
constexpr int64_t panels_at_once = max_streamed_rows / block_side;

// The packing buffers of a thread: for panels of a, and, if it calls the product, for those of b.
class PackingBuffers {
 public:
  alignas(64) uint32_t left[panels_at_once * panel_words(slice_terms / tile_terms, true)];

  // Grows as needed and is never returned.
  uint32_t* right(int64_t words) {
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
Lines rows_of(const MatrixView& m) {
  return m.transposed ? Lines{m.data, 1, m.leading} : Lines{m.data, m.leading, 1};
}

// Where the panel of terms [p, p + terms) and columns [j, j + 32) of a packed operand begins: the
// panels of all columns follow each other, slice of terms by slice.
int64_t panel_offset(int64_t columns, int64_t p, int64_t terms, int64_t j, bool split) {
  return panel_count(columns) * panel_words(step_count(p), split) +
         panel_count(j) * panel_words(step_count(terms), split);
}

// Packs columns [j, j + 32) of b, terms [p, p + terms), as a panel of the right operand.
void pack_columns(const TileKernels& tiles, const MatrixView& b, int64_t p, int64_t terms,
                  int64_t j, bool split, uint32_t* panel) {
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

// Divides c among threads into rows × columns parts of whole blocks. Minimises the blocks of the
// largest part. Among equals takes the most rows of parts, because each part packs its rows of a.
struct Parts {
  int64_t rows = 1, columns = 1;

  Parts(int64_t row_blocks, int64_t column_blocks, int64_t count) {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (int64_t r = count; r > 0; --r) {
      const int64_t of_row = count / r;
      const int64_t blocks = ((row_blocks + r - 1) / r) * ((column_blocks + of_row - 1) / of_row);
      if (count % r == 0 && blocks < least) least = blocks, rows = r, columns = of_row;
    }
  }
};

// Where part i of a side of c begins: at a block.
int64_t part_begin(int64_t size, int64_t parts, int64_t i) {
  return std::min(size, panel_count(size) * i / parts * block_side);
}

// Packs b, each part of `rows_in_part` rows as an operand of its own, of `words` words.
void pack_parts(const TileKernels& tiles, const MatrixView& b, int64_t rows_in_part, int64_t words,
                bool split, uint32_t* panels) {
  const int64_t columns = panel_count(b.columns);
  const int64_t slices = (rows_in_part + slice_terms - 1) / slice_terms;  // of a part
  const int64_t parts = (b.rows + rows_in_part - 1) / rows_in_part;
  const auto pack = [&](int64_t i) {
    const int64_t part = i / (slices * columns), j = i % columns * block_side;
    const int64_t p = i / columns % slices * slice_terms, row = part * rows_in_part;
    const int64_t rows = std::min(rows_in_part, b.rows - row);
    if (p >= rows) return;  // the last part may have fewer slices
    const int64_t terms = std::min(slice_terms, rows - p);
    pack_columns(tiles, b, row + p, terms, j, split,
                 panels + part * words + panel_offset(b.columns, p, terms, j, split));
  };
  parallel_for(parts * slices * columns,
               chunk_rows(block_side * std::min(rows_in_part, slice_terms)),
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; ++i) pack(i);
               });
}

// Panels of b: of so many columns, from this term and this column on.
struct Panels {
  const uint32_t* words;
  int64_t columns, term, column;
  bool split;

  const uint32_t* at(int64_t p, int64_t terms, int64_t j) const {
    return words + panel_offset(columns, p - term, terms, j - column, split);
  }
};

// A product c = a b, for those terms of its sums that `right` holds.
struct PartialProduct {
  const TileKernels& tiles;
  const MatrixView &a, &b;
  Destination c;
  const GemmOptions& options;
  Panels right;
  int64_t first_term, last_term;

  // Adds the terms to rows [i0, i1) and columns [j0, j1) of c, which begin with a block.
  void run(int64_t i0, int64_t i1, int64_t j0, int64_t j1) const {
    uint32_t* const left = per_thread<PackingBuffers>().left;
    for (int64_t i = i0; i < i1; i += panels_at_once * block_side) {
      const int64_t end = std::min(i1, i + panels_at_once * block_side);
      for (int64_t p = first_term; p < last_term; p += slice_terms) {
        const int64_t terms = std::min(slice_terms, last_term - p);
        const int64_t panel = panel_words(step_count(terms), right.split);
        // If a is transposed, adjacent rows are adjacent in memory: packs all rows tile by tile.
        const int64_t at_once = a.transposed ? tile_terms : terms;
        for (int64_t q = 0; q < terms; q += at_once)
          for (int64_t row = i; row < end; row += block_side) {
            const int64_t lines = std::min(block_side, end - row);
            const int64_t count = std::min(at_once, terms - q);
            tiles.pack(
                rows_of(a.block(row, lines, p + q, count)), lines, count, false, right.split,
                left + (row - i) / block_side * panel + panel_words(step_count(q), right.split));
          }
        for (int64_t j = j0; j < j1; j += block_side)
          for (int64_t row = i; row < end; row += block_side)
            multiply(left + (row - i) / block_side * panel, row, std::min(block_side, end - row), p,
                     terms, j, std::min(block_side, j1 - j));
      }
      if (last_term == a.columns) options.epilogue(i, end, j0, j1);
    }
  }

 private:
  // Adds terms [p, p + terms) to the block of c at (i, j). `left` is the panel of its rows of a.
  void multiply(const uint32_t* left, int64_t i, int64_t rows, int64_t p, int64_t terms, int64_t j,
                int64_t columns) const {
    GemmOptions block = options.shifted(i, j);
    block.epilogue = {};
    const bool adds = p != 0;  // to the sum of earlier terms, which has the bias
    if (adds) block.bias = nullptr;
    const Destination to{c.data + i * block.leading_c + j, c.accumulate || adds};
    const uint32_t* const panel = right.at(p, terms, j);
    const int64_t done = tiles.multiply(
        left, panel, step_count(terms), right.split,
        {to.data, block.leading_c, rows, columns, to.accumulate, block.scale, block.bias});
    if (done == rows) return;
    // Computes the other rows in float32.
    const MatrixView a_rows = a.block(i + done, rows - done, p, terms);
    const Destination others{to.data + done * block.leading_c, to.accumulate};
    if (!b.packed)
      return gemm_serial(a_rows, b.block(p, terms, j, columns), others, Precision::highest, block);
    float values[slice_terms * block_side];
    unpack(panel, terms, values);
    gemm_serial(a_rows, MatrixView(values, terms, columns, block_side), others, Precision::highest,
                block);
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

void gemm_on_tiles(const TileKernels& tiles, const MatrixView& a, const MatrixView& b,
                   Destination c, const GemmOptions& options, Precision precision,
                   int64_t threads) {
  const int64_t m = a.rows, n = b.columns, k = a.columns;
  if (k == 0) return gemm_serial(a, b, c, Precision::highest, options);
  const bool split = precision == Precision::high;
  const bool streams = b.packed && m <= max_streamed_rows;
  const int64_t columns_at_once = streams ? n : std::min(n, slice_columns);
  const int64_t slice = panel_count(columns_at_once) * panel_words(step_count(slice_terms), split);
  const int64_t terms_at_once =
      streams ? k : slice_terms * std::max<int64_t>(1, max_right_words / slice);
  // Multiplications, and elements to read, that are worth a thread.
  const int64_t min_work = 500'000 * tiles.rate, min_read = int64_t{1} << 16;
  const int64_t worth = std::max(m * n * k / min_work, streams ? n * k / min_read : 0);
  const Parts parts(streams ? 1 : panel_count(m), panel_count(columns_at_once),
                    std::clamp<int64_t>(worth, 1, threads));
  for (int64_t j = 0; j < n; j += columns_at_once)
    for (int64_t p = 0; p < k; p += terms_at_once) {
      const int64_t columns = std::min(columns_at_once, n - j),
                    terms = std::min(terms_at_once, k - p);
      Panels right{b.packed, n, 0, 0, split};
      if (!b.packed) {
        uint32_t* const buffer = per_thread<PackingBuffers>().right(
            panel_count(columns) * panel_words(step_count(terms), split));
        pack_parts(tiles, b.block(p, terms, j, columns), terms, 0, split, buffer);
        right = {buffer, columns, p, j, split};
      }
      const PartialProduct product{tiles, a, b, c, options, right, p, p + terms};
      const auto run_parts = [&](int64_t first, int64_t last) {
        tiles.configure();
        for (int64_t part = first; part < last; ++part) {
          const int64_t row = part / parts.columns, column = part % parts.columns;
          product.run(part_begin(m, parts.rows, row), part_begin(m, parts.rows, row + 1),
                      j + part_begin(columns, parts.columns, column),
                      j + part_begin(columns, parts.columns, column + 1));
        }
        tiles.release();
      };
      parallel_for(parts.rows * parts.columns, 1, run_parts);
    }
}

int64_t packed_words(int64_t k, int64_t n) {
  return panel_count(n) * panel_words(step_count(k), false);
}

void pack_ahead(const TileKernels& tiles, const MatrixView& b, int64_t rows_in_part,
                uint32_t* panels) {
  pack_parts(tiles, b, rows_in_part, packed_words(rows_in_part, b.columns), false, panels);
}

// Float32 is better for small products. Packing costs m k + k n steps, which the product's m n k
// must outweigh. A tile takes 32 terms even if there are fewer. And the error of a single term, up
// to 3e-5 in `high`, averages out only over many terms.
bool uses_bfloat16(int64_t m, int64_t n, int64_t k, Precision precision) {
  return effective_precision(precision) != Precision::highest && k >= tile_terms / 2 &&
         m * n >= 16 * (m + n);
}

bool can_be_packed(int64_t k, Precision precision) {
  return effective_precision(precision) == Precision::medium && k >= tile_terms / 2;
}

bool gemm_bfloat16(const MatrixView& a, const MatrixView& b, Destination c,
                   const GemmOptions& options, Precision precision, int64_t threads) {
  if (!b.packed && !uses_bfloat16(a.rows, b.columns, a.columns, precision)) return false;
  gemm_on_tiles(*tile_kernels(), a, b, c, options, precision, threads);
  return true;
}

}  // namespace heed::inline HEED_REAL::kernels

#endif
