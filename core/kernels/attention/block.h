// What the forward and the backward pass of attention share: one block of scores of one head, the
// mask on it, and the matrix products that it takes part in.
//
// A block is up to 64 queries × 256 keys, 64 KiB of float. Its rows begin at multiples of the
// vector length, so that a loop over the vectors of a row needs no special case at the end:
// elements beyond the block's columns exist, with undefined values. The columns that a row may
// attend to, if there is no dense mask, are one interval [first, last): visible columns.
#pragma once

#include <algorithm>

#include "core/kernels/attention/attention.h"
#include "core/kernels/gemm/view.h"
#include "core/kernels/more_kernels.h"
#include "core/kernels/simd/vector.h"
#include "core/kernels/simd/vector_math.h"

namespace heed::inline HEED_REAL::kernels {

inline constexpr int64_t max_query_block = 64, key_block = 256;

// Queries in a block. Small blocks skip more of the masked keys in causal attention; large blocks
// make the sums of dk and dv longer.
inline int64_t query_block(const AttentionSizes& n) {
  return n.queries > 256 ? max_query_block : 32;
}

// The maximum number of elements of a block of scores.
inline int64_t block_size(const AttentionSizes& n) {
  return std::min(n.queries, query_block(n)) * whole_vectors(std::min(n.keys, key_block));
}

// The simple operations of all heads, for parallel_for: a few for each score, and one for 16
// multiplications; for few queries, as when a text is generated, reading the keys and values takes
// longer than both.
inline int64_t attention_work(const AttentionSizes& n) {
  const int64_t sides = n.width + n.value_width;
  return n.batch * n.heads * n.keys * std::max(n.queries * (2 + sides / 16), sides / 2);
}

// Queries [i0, i1) × keys [j0, j1).
struct Block {
  int64_t i0, i1, j0, j1;
  int64_t rows() const { return i1 - i0; }
  int64_t columns() const { return j1 - j0; }
  int64_t leading() const { return whole_vectors(columns()); }
};

using Columns = KeepMask::KeyRange;

// q, k and v of one head: row i of q is q + i · ld, of v it is v + i · ld_value.
struct HeadInputs {
  const real *q, *k, *v;
  int64_t ld, ld_value;
};

// Head h of example b, and where its rows are.
struct Head {
  const AttentionSizes& n;
  const AttentionSettings& settings;
  int64_t b, h;
  HeadInputs in;

  // The head's own rows in arrays of all heads.
  HeadInputs inputs_in(const AttentionInputs& all) const {
    return {query(all.q, 0), key(all.k, 0), value(all.v, 0), ld(), ld_value()};
  }
  // Rows [first, first + count) of its q, k or v.
  MatrixView queries(int64_t first, int64_t count) const {
    return {in.q + first * in.ld, count, n.width, in.ld};
  }
  MatrixView keys(int64_t first, int64_t count) const {
    return {in.k + first * in.ld, count, n.width, in.ld};
  }
  MatrixView values(int64_t first, int64_t count) const {
    return {in.v + first * in.ld_value, count, n.value_width, in.ld_value};
  }

  // The leading dimensions of arrays of all heads: of q and k, and of v and the output.
  int64_t ld() const { return n.heads * n.width; }
  int64_t ld_value() const { return n.heads * n.value_width; }
  // Row i of this head in an array shaped like q, like k, like v, or like the output.
  template <class T>
  T* query(T* q, int64_t i) const {
    return q + ((b * n.queries + i) * n.heads + h) * n.width;
  }
  template <class T>
  T* key(T* k, int64_t j) const {
    return k + ((b * n.capacity + j) * n.heads + h) * n.width;
  }
  template <class T>
  T* value(T* v, int64_t j) const {
    return v + ((b * n.capacity + j) * n.heads + h) * n.value_width;
  }
  template <class T>
  T* output(T* o, int64_t i) const {
    return o + ((b * n.queries + i) * n.heads + h) * n.value_width;
  }
  // The index of query i in log_sum.
  int64_t row(int64_t i) const { return (b * n.heads + h) * n.queries + i; }

  // The keys that any query of [i0, i1) may attend to lie in this range: both ends of the
  // structured mask only move forward with the query.
  KeepMask::KeyRange keys_for(int64_t i0, int64_t i1) const {
    return {settings.mask.keys_for(b, i0, n.queries, n.keys).first,
            settings.mask.keys_for(b, i1 - 1, n.queries, n.keys).last};
  }

  // The visible columns of row i of a block.
  Columns visible_columns(const Block& block, int64_t i) const {
    const KeepMask::KeyRange keys = settings.mask.keys_for(b, i, n.queries, n.keys);
    const int64_t first = std::clamp(keys.first - block.j0, int64_t{0}, block.columns());
    return {first, std::clamp(keys.last - block.j0, first, block.columns())};
  }

  // Sets the scores of row i that a dense mask hides to -inf.
  void apply_dense_mask(const Block& block, int64_t i, Columns visible,
                        real* __restrict scores) const {
    const int32_t* keep = settings.mask.dense_row(b, h, i);
    if (!keep) return;
    for (int64_t j = visible.first; j < visible.last; ++j)
      if (keep[block.j0 + j] == 0) scores[j] = -infinity;
  }

  // c = scale · x y (+ c)
  void multiply(const MatrixView& x, const MatrixView& y, Destination c, int64_t leading_c,
                real scale = 1) const {
    gemm_serial(x, y, c, settings.precision, {.leading_c = leading_c, .scale = scale});
  }
};

// Calls f(j0, j1) for each block of keys in a range.
template <class F>
void for_each_key_block(KeepMask::KeyRange keys, F f) {
  for (int64_t j0 = keys.first; j0 < keys.last;) {
    const int64_t j1 = std::min(keys.last, (j0 / key_block + 1) * key_block);
    f(j0, j1);
    j0 = j1;
  }
}

// The pairs of a query and a key whose scores an example's head computes: each block of queries
// takes the keys that any of its queries may attend to, up to the lengths of keys, which a
// computation of shapes does not know.
inline int64_t computed_pairs(const AttentionSizes& n, AttentionSettings settings) {
  settings.mask.key_lengths = {};
  const Head head{n, settings, 0, 0, {}};
  int64_t pairs = 0;
  for (int64_t i0 = 0; i0 < n.queries; i0 += query_block(n)) {
    const int64_t i1 = std::min(n.queries, i0 + query_block(n));
    const KeepMask::KeyRange keys = head.keys_for(i0, i1);
    pairs += (i1 - i0) * (keys.last - keys.first);
  }
  return pairs;
}

// The vector of a row at column j, with `hidden` in the lanes that are not visible.
inline Vector select_visible(Columns visible, int64_t j, Vector values, real hidden) {
  const VectorIndex column = lane_indices() + static_cast<int32_t>(j);
  const auto first = static_cast<int32_t>(visible.first), last = static_cast<int32_t>(visible.last);
  return ((column >= first) & (column < last)) ? values : broadcast(hidden);
}

// x = e^x for all elements of a block, in one loop: the processor overlaps many vectors.
inline void exponentiate(const Block& block, real* x) {
  for (int64_t i = 0; i < block.rows() * block.leading(); ++i) x[i] = exp(x[i]);
}

// The dropout factors of row i of a block: 0 where a weight is dropped, else 1 / (1 - p).
struct DropoutRow {
  real factors[key_block + lanes];

  DropoutRow(const Head& head, const Block& block, int64_t i) {
    const auto first = static_cast<uint64_t>(head.row(i) * head.n.keys + block.j0);
    const DropoutRule rule(head.settings.dropout);
    uint32_t words[key_block + 8];
    philox_words(head.settings.dropout_key, first / 4, (block.columns() + 6) / 4, words);
    const uint32_t* own = words + first % 4;
    for (int64_t j = 0; j < block.columns(); ++j)
      factors[j] = own[j] < rule.threshold ? real{0} : rule.scale;
  }
};

// The keys (or values) of a head as the right operand of a matrix product with queries: kᵀ, (width,
// keys). With at least 16 queries they are transposed once, in blocks of keys, for all blocks of
// queries; with fewer that costs more than it saves, and they are read in place.
class TransposedKeys {
 public:
  // The elements of memory that the constructor needs.
  static int64_t size(const AttentionSizes& n, int64_t width) {
    return transposes(n) ? (n.keys + key_block - 1) / key_block * width * leading(n) : 0;
  }

  // Transposes the keys in `range`; key j begins at from + j · ld.
  TransposedKeys(const AttentionSizes& n, KeepMask::KeyRange range, const real* from, int64_t ld,
                 int64_t width, real* memory)
      : from_(from),
        ld_(ld),
        width_(width),
        leading_(leading(n)),
        memory_(transposes(n) ? memory : nullptr) {
    if (!memory_ || range.first == range.last) return;
    for (int64_t j = range.first / key_block * key_block; j < range.last; j += key_block) {
      const int64_t count = std::min(key_block, range.last - j);
      transpose(count, width, from + j * ld, ld, column(j), leading_);
      for (int64_t w = 0; w < width; ++w)  // a block may begin within a vector
        store(column(j) + w * leading_ + whole_vectors(count), Vector{});
    }
  }

  // Keys [j0, j0 + count), within one block of keys, as (width, count). If they are transposed
  // there are whole vectors of columns; the additional ones hold other keys, or undefined values.
  MatrixView columns(int64_t j0, int64_t count) const {
    if (memory_) return {column(j0), width_, whole_vectors(count), leading_};
    return MatrixView(from_ + j0 * ld_, count, width_, ld_).t();
  }

 private:
  static bool transposes(const AttentionSizes& n) { return n.queries >= 16; }
  // The leading dimension of a block. Not a power of two: those map to few sets of the cache.
  static int64_t leading(const AttentionSizes& n) {
    return whole_vectors(std::min(n.keys, key_block)) + lanes;
  }
  real* column(int64_t j) const {
    return memory_ + j / key_block * width_ * leading_ + j % key_block;
  }

  const real* from_;
  int64_t ld_, width_, leading_;
  real* memory_;
};

// scores (rows, columns) = scale · q kᵀ, with leading dimension block.leading()
inline void compute_scores(const Head& head, const Block& block, const TransposedKeys& keys,
                           real* scores) {
  head.multiply(head.queries(block.i0, block.rows()), keys.columns(block.j0, block.columns()),
                {scores, false}, block.leading(), head.settings.scale);
}

}  // namespace heed::inline HEED_REAL::kernels
