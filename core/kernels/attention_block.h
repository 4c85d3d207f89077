// What the forward and the backward of attention (kernels/attention.h) share: a block of scores of
// one head, what of it is seen, and the products it is made of.
#pragma once

#include <algorithm>
#include <limits>

#include "core/kernels/attention.h"
#include "core/kernels/dropout.h"
#include "core/kernels/gemm/gemm.h"
#include "core/kernels/philox.h"
#include "core/kernels/simd/transpose.h"
#include "core/kernels/simd/vector.h"

namespace heed::inline HEED_REAL::kernels {

inline constexpr int64_t most_queries = 64, key_block = 256;
inline constexpr real infinity = std::numeric_limits<real>::infinity();

// One block of scores: queries [i0, i1) against keys [j0, j1) of one example and head.
struct Block {
  int64_t b, h, i0, i1, j0, j1;
  int64_t rows() const { return i1 - i0; }
  int64_t columns() const { return j1 - j0; }
  int64_t leading() const { return whole_vectors(columns()); }
};

// Queries of a block. Short ones skip more of what comes after them where attention is causal; long
// ones make deeper products, of dk and dv.
inline int64_t query_block(const AttentionSizes& n) { return n.queries > 256 ? most_queries : 32; }

// Numbers that a block of scores takes at most.
inline int64_t block_scratch(const AttentionSizes& n) {
  return std::min(n.queries, query_block(n)) * whole_vectors(std::min(n.keys, key_block));
}

// The part of `block` that row i may see, as columns of the block: [first, last).
inline KeepMask::KeyRange columns_for(const AttentionSizes& n, const KeepMask& mask,
                                      const Block& block, int64_t i) {
  const KeepMask::KeyRange keys = mask.keys_for(block.b, i, n.queries, n.keys);
  const int64_t first = std::clamp(keys.first - block.j0, int64_t{0}, block.columns());
  return {first, std::clamp(keys.last - block.j0, first, block.columns())};
}

// All keys that some query of [i0, i1) may see lie in here.
inline KeepMask::KeyRange keys_for_block(const AttentionSizes& n, const KeepMask& mask, int64_t b,
                                         int64_t i0, int64_t i1) {
  // Both ends of the structured mask only ever move forward with the query.
  return {mask.keys_for(b, i0, n.queries, n.keys).first,
          mask.keys_for(b, i1 - 1, n.queries, n.keys).last};
}

// Scores of hidden keys within the visible columns become -inf.
inline void hide(const int32_t* dense_row, KeepMask::KeyRange seen, int64_t j0,
                 real* __restrict scores) {
  if (!dense_row) return;
  for (int64_t j = seen.first; j < seen.last; ++j)
    if (dense_row[j0 + j] == 0) scores[j] = -infinity;
}

// Rows of a block of scores are whole vectors, so that a loop over one has no loose ends; beyond
// the block's columns there is room, for which nothing is promised. These are columns j … of a row;
// those that are not seen become `hidden`.
inline Vector only_seen(KeepMask::KeyRange seen, int64_t j, Vector columns, real hidden) {
  VectorIndex place;
  for (int l = 0; l < lanes; ++l) place[l] = l;
  place += static_cast<int32_t>(j);
  const auto first = static_cast<int32_t>(seen.first), last = static_cast<int32_t>(seen.last);
  return (place >= first) & (place < last) ? columns : Vector{} + hidden;
}

// For each column of a row that is seen: 0 where dropout drops, else 1 / (1 - p).
struct DropoutRow {
  real factors[key_block + lanes];

  DropoutRow(const AttentionSizes& n, const AttentionSetting& setting, const Block& block,
             int64_t i) {
    const auto first =
        static_cast<uint64_t>(((block.b * n.heads + block.h) * n.queries + i) * n.keys + block.j0);
    const Dropping drop(setting.dropout);
    uint32_t words[key_block + 8];
    philox_words(setting.dropout_key, first / 4, (block.columns() + 6) / 4, words);
    const uint32_t* own = words + first % 4;
    for (int64_t j = 0; j < block.columns(); ++j)
      factors[j] = own[j] < drop.threshold ? real{0} : drop.kept;
  }
};

// Everything one (example, head) needs to find its rows.
struct Head {
  const AttentionSizes& n;
  int64_t b, h;
  int64_t ld() const { return n.heads * n.width; }
  int64_t ld_value() const { return n.heads * n.value_width; }
  template <class T>
  T* query(T* q, int64_t i) const {
    return place(q, n.queries, i, n.width);
  }
  template <class T>
  T* key(T* k, int64_t j) const {
    return place(k, n.capacity, j, n.width);
  }
  template <class T>
  T* value(T* v, int64_t j) const {
    return place(v, n.capacity, j, n.value_width);
  }
  template <class T>
  T* output(T* o, int64_t i) const {
    return place(o, n.queries, i, n.value_width);
  }
  int64_t row(int64_t i) const { return (b * n.heads + h) * n.queries + i; }

 private:
  // Where this head's part of row i begins in x (batch, rows, heads · width).
  template <class T>
  T* place(T* x, int64_t rows, int64_t i, int64_t width) const {
    return x + ((b * rows + i) * n.heads + h) * width;
  }
};

// The vectors of a row that hold any column that is seen.
inline KeepMask::KeyRange vectors_of(KeepMask::KeyRange seen) {
  if (seen.first == seen.last) return {0, 0};
  return {seen.first / lanes * lanes, whole_vectors(seen.last)};
}

// The columns of a row up to `width` that are not `kept` become 0.
inline void clear_others(KeepMask::KeyRange kept, int64_t width, real* row) {
  std::fill(row, row + kept.first, real{0});
  std::fill(row + kept.last, row + width, real{0});
}

// c = scale · a b (+ c) in the precision of the one who called attention.
inline void multiply(const AttentionSetting& setting, const Matrix& a, const Matrix& b,
                     Destination c, int64_t leading_c, real scale = 1) {
  gemm_serial(a, b, c, leading_c, scale, nullptr, setting.precision);
}

// The keys of a head, or its values, as products with queries read them best: turned over, to
// (width, keys), once for all blocks of queries. With few queries that does not pay, and they are
// read as they lie.
class TransposedKeys {
 public:
  static int64_t numbers(const AttentionSizes& n, int64_t width) {
    return pays(n) ? (n.keys + key_block - 1) / key_block * width * leading(n) : 0;
  }

  // Of keys `seen`; key j lies at from + j · ld.
  TransposedKeys(const AttentionSizes& n, KeepMask::KeyRange seen, const real* from, int64_t ld,
                 int64_t width, real* memory)
      : from_(from),
        ld_(ld),
        width_(width),
        leading_(leading(n)),
        memory_(pays(n) ? memory : nullptr) {
    if (!memory_ || seen.first == seen.last) return;
    for (int64_t j = seen.first / key_block * key_block; j < seen.last; j += key_block) {
      const int64_t count = std::min(key_block, seen.last - j);
      transpose(count, width, from + j * ld, ld, place(j), leading_);
      for (int64_t w = 0; w < width; ++w)  // a block may be read from within a vector
        store(place(j) + w * leading_ + whole_vectors(count), Vector{});
    }
  }

  // (width, columns) of keys j0 …, within one block of keys. Where they are turned over there are
  // whole vectors of columns, the last ones those of other keys, or of none.
  Matrix columns(int64_t j0, int64_t count) const {
    if (memory_) return {place(j0), width_, whole_vectors(count), leading_};
    return Matrix(from_ + j0 * ld_, count, width_, ld_).t();
  }

 private:
  static bool pays(const AttentionSizes& n) { return n.queries >= 16; }
  // From row to row of a block; no power of two: those meet in a few sets of the cache.
  static int64_t leading(const AttentionSizes& n) {
    return whole_vectors(std::min(n.keys, key_block)) + lanes;
  }
  real* place(int64_t j) const {
    return memory_ + j / key_block * width_ * leading_ + j % key_block;
  }

  const real* from_;
  int64_t ld_, width_, leading_;
  real* memory_;
};

// scores (rows, columns) = scale · q kᵀ, with block.leading() numbers from row to row
inline void score(const Head& head, const AttentionSetting& setting, const Block& block,
                  const real* q, const TransposedKeys& keys, real* scores) {
  multiply(setting, {head.query(q, block.i0), block.rows(), head.n.width, head.ld()},
           keys.columns(block.j0, block.columns()), {scores, false}, block.leading(),
           setting.scale);
}

// The blocks of keys that hold `keys`: f(j0, j1) for each.
template <class F>
void for_each_key_block(KeepMask::KeyRange keys, F f) {
  for (int64_t j0 = keys.first; j0 < keys.last;) {
    const int64_t j1 = std::min(keys.last, (j0 / key_block + 1) * key_block);
    f(j0, j1);
    j0 = j1;
  }
}

}  // namespace heed::inline HEED_REAL::kernels
