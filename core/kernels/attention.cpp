#include "core/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernels/dropout.h"
#include "core/kernels/gemm.h"
#include "core/kernels/lanes.h"
#include "core/kernels/philox.h"
#include "core/kernels/vector.h"
#include "core/kernels/vector_math.h"
#include "core/parallel.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

constexpr int64_t query_block = 64;
constexpr int64_t key_block = 256;
constexpr real infinity = std::numeric_limits<real>::infinity();

// One block of scores: queries [i0, i1) against keys [j0, j1) of one example and head.
struct Block {
  int64_t b, h, i0, i1, j0, j1;
  int64_t rows() const { return i1 - i0; }
  int64_t columns() const { return j1 - j0; }
  int64_t leading() const { return whole_vectors(columns()); }
};

// The part of `block` that row i may see, as columns of the block: [first, last).
KeepMask::KeyRange columns_for(const AttentionSizes& n, const KeepMask& mask, const Block& block,
                               int64_t i) {
  const KeepMask::KeyRange keys = mask.keys_for(block.b, i, n.queries, n.keys);
  const int64_t first = std::clamp(keys.first - block.j0, int64_t{0}, block.columns());
  return {first, std::clamp(keys.last - block.j0, first, block.columns())};
}

// All keys that some query of [i0, i1) may see lie in here.
KeepMask::KeyRange keys_for_block(const AttentionSizes& n, const KeepMask& mask, int64_t b,
                                  int64_t i0, int64_t i1) {
  // Both ends of the structured mask only ever move forward with the query.
  return {mask.keys_for(b, i0, n.queries, n.keys).first,
          mask.keys_for(b, i1 - 1, n.queries, n.keys).last};
}

// Scores of hidden keys within the visible columns become -inf.
void hide(const int32_t* dense_row, KeepMask::KeyRange seen, int64_t j0, real* __restrict scores) {
  if (!dense_row) return;
  for (int64_t j = seen.first; j < seen.last; ++j)
    if (dense_row[j0 + j] == 0) scores[j] = -infinity;
}

// Rows of a block of scores are whole vectors, so that a loop over one has no loose ends; beyond
// the block's columns there is room that holds nothing. These are columns j … of a row; those that
// are not seen become `hidden`.
Vector only_seen(KeepMask::KeyRange seen, int64_t j, Vector columns, real hidden) {
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
    return q + (b * n.queries + i) * ld() + h * n.width;
  }
  template <class T>
  T* key(T* k, int64_t j) const {
    return k + (b * n.capacity + j) * ld() + h * n.width;
  }
  template <class T>
  T* value(T* v, int64_t j) const {
    return v + (b * n.capacity + j) * ld_value() + h * n.value_width;
  }
  template <class T>
  T* output(T* o, int64_t i) const {
    return o + (b * n.queries + i) * ld_value() + h * n.value_width;
  }
  int64_t row(int64_t i) const { return (b * n.heads + h) * n.queries + i; }
};

// c = scale · a b (+ c) in the precision of the one who called attention.
void multiply(const AttentionSetting& setting, const Matrix& a, const Matrix& b, Destination c,
              int64_t leading_c, real scale = 1) {
  gemm_serial(a, b, c, leading_c, scale, nullptr, setting.precision);
}

// scores (rows, columns) = scale · q kᵀ, with block.leading() numbers from row to row
void score(const Head& head, const AttentionSetting& setting, const Block& block, const real* q,
           const real* k, real* scores) {
  multiply(setting, {head.query(q, block.i0), block.rows(), head.n.width, head.ld()},
           Matrix(head.key(k, block.j0), block.columns(), head.n.width, head.ld()).t(),
           {scores, false}, block.leading(), setting.scale);
}

void fill_rows(real* first, int64_t rows, int64_t width, int64_t leading, real value) {
  for (int64_t i = 0; i < rows; ++i) std::fill_n(first + i * leading, width, value);
}

// One row of a block of scores, `width` numbers of whole vectors, becomes e^(s - m'), m' the
// greatest score so far; hidden columns become 0. `most` and `total` move on. Returns e^(m - m'),
// by which older results shrink.
real soften(KeepMask::KeyRange seen, int64_t width, real* __restrict scores, real& most,
            real& total) {
  Vector high = Vector{} - infinity;
  for (int64_t first = 0; first < width; first += lanes) {
    const Vector here = only_seen(seen, first, load(scores + first), -infinity);
    store(scores + first, here);
    high = here > high ? here : high;
  }
  const real before = most;
  most = std::max(most, greatest(high));
  // With nothing to attend to yet -inf - -inf would be NaN; what is NaN itself stays so.
  const real shift = most == -infinity ? 0 : most;
  Vector added{};
  for (int64_t first = 0; first < width; first += lanes) {
    for (int64_t j = first; j < first + lanes; ++j) scores[j] = exp(scores[j] - shift);
    added += load(scores + first);
  }
  const real shrink = before == -infinity ? real{0} : std::exp(before - most);
  total = total * shrink + sum(added);
  return shrink;
}

void forward_block(const Head& head, const AttentionSetting& setting, int64_t i0, int64_t i1,
                   const real* q, const real* k, const real* v, real* output, real* log_sum,
                   real* scores) {
  const AttentionSizes& n = head.n;
  real most[query_block], total[query_block];
  std::fill_n(most, i1 - i0, -infinity);
  std::fill_n(total, i1 - i0, real{0});
  const KeepMask::KeyRange keys = keys_for_block(n, setting.mask, head.b, i0, i1);
  bool first = true;
  for (int64_t j0 = keys.first; j0 < keys.last; j0 += key_block) {
    const Block block{head.b, head.h, i0, i1, j0, std::min(keys.last, j0 + key_block)};
    score(head, setting, block, q, k, scores);
    for (int64_t i = i0; i < i1; ++i) {
      real* row = scores + (i - i0) * block.leading();
      const KeepMask::KeyRange seen = columns_for(n, setting.mask, block, i);
      hide(setting.mask.dense_row(head.b, head.h, i), seen, j0, row);
      const real shrink = soften(seen, block.leading(), row, most[i - i0], total[i - i0]);
      if (!first && shrink != 1)
        for (int64_t c = 0; c < n.value_width; ++c) head.output(output, i)[c] *= shrink;
      if (setting.dropout > 0) {
        const DropoutRow drop(n, setting, block, i);
        for (int64_t j = 0; j < block.columns(); ++j) row[j] *= drop.factors[j];
      }
    }
    multiply(setting, {scores, block.rows(), block.columns(), block.leading()},
             {head.value(v, j0), block.columns(), n.value_width, head.ld_value()},
             {head.output(output, i0), !first}, head.ld_value());
    first = false;
  }
  for (int64_t i = i0; i < i1; ++i) {
    const real all = total[i - i0];
    real* o = head.output(output, i);
    if (all == 0)  // no key, or none that was seen
      std::fill_n(o, n.value_width, real{0});
    else
      for (int64_t c = 0; c < n.value_width; ++c) o[c] /= all;
    log_sum[head.row(i)] = all == 0 ? infinity : most[i - i0] + std::log(all);
  }
}

struct Gradients {
  Destination dq, dk, dv;
};

void backward_block(const Head& head, const AttentionSetting& setting, const Block& block,
                    const real* q, const real* k, const real* v, const real* log_sum,
                    const real* d_output, const real* delta, const Gradients& to, real* scores,
                    real* d_weights) {
  const AttentionSizes& n = head.n;
  const Matrix d_out(head.output(d_output, block.i0), block.rows(), n.value_width, head.ld_value());
  const Matrix values(head.value(v, block.j0), block.columns(), n.value_width, head.ld_value());
  score(head, setting, block, q, k, scores);
  const int64_t leading = block.leading();
  multiply(setting, d_out, values.t(), {d_weights, false}, leading);  // dp = do · vᵀ
  for (int64_t i = block.i0; i < block.i1; ++i) {
    real* __restrict p = scores + (i - block.i0) * leading;
    real* __restrict ds = d_weights + (i - block.i0) * leading;
    const KeepMask::KeyRange seen = columns_for(n, setting.mask, block, i);
    hide(setting.mask.dense_row(head.b, head.h, i), seen, block.j0, p);
    const real log_total = log_sum[head.row(i)], d = delta[i - block.i0], scale = setting.scale;
    for (int64_t first = 0; first < leading; first += lanes) {
      store(p + first, only_seen(seen, first, load(p + first), -infinity));
      for (int64_t j = first; j < first + lanes; ++j) p[j] = exp(p[j] - log_total);
    }
    // ds = p ∘ (dp - δ) · scale, of dp what dropout kept
    if (setting.dropout > 0) {
      const DropoutRow drop(n, setting, block, i);
      for (int64_t j = 0; j < block.columns(); ++j) {
        ds[j] = p[j] * (ds[j] * drop.factors[j] - d) * scale;
        p[j] *= drop.factors[j];
      }
    } else {
      for (int64_t first = 0; first < leading; first += lanes)
        store(ds + first, load(p + first) * (load(ds + first) - d) * scale);
    }
    for (int64_t first = 0; first < leading; first += lanes)
      store(ds + first, only_seen(seen, first, load(ds + first), 0));
  }
  const Matrix weights(scores, block.rows(), block.columns(), leading);
  const Matrix d_scores(d_weights, block.rows(), block.columns(), leading);
  if (to.dq.data)  // dq += ds · k
    multiply(setting, d_scores, {head.key(k, block.j0), block.columns(), n.width, head.ld()},
             {head.query(to.dq.data, block.i0), true}, head.ld());
  if (to.dk.data)  // dk += dsᵀ · q
    multiply(setting, d_scores.t(), {head.query(q, block.i0), block.rows(), n.width, head.ld()},
             {head.key(to.dk.data, block.j0), true}, head.ld());
  if (to.dv.data)  // dv += pᵀ · do
    multiply(setting, weights.t(), d_out, {head.value(to.dv.data, block.j0), true},
             head.ld_value());
}

void backward_head(const Head& head, const AttentionSetting& setting, const real* q, const real* k,
                   const real* v, const real* output, const real* log_sum, const real* d_output,
                   const Gradients& to, real* scratch) {
  const AttentionSizes& n = head.n;
  if (to.dq.data && !to.dq.accumulate)
    fill_rows(head.query(to.dq.data, 0), n.queries, n.width, head.ld(), 0);
  if (to.dk.data && !to.dk.accumulate)
    fill_rows(head.key(to.dk.data, 0), n.keys, n.width, head.ld(), 0);
  if (to.dv.data && !to.dv.accumulate)
    fill_rows(head.value(to.dv.data, 0), n.keys, n.value_width, head.ld_value(), 0);
  for (int64_t i0 = 0; i0 < n.queries; i0 += query_block) {
    const int64_t i1 = std::min(n.queries, i0 + query_block);
    real delta[query_block];  // δᵢ = Σ do ∘ o = Σⱼ pᵢⱼ dpᵢⱼ
    for (int64_t i = i0; i < i1; ++i)
      delta[i - i0] = row_dot(n.value_width, head.output(output, i), head.output(d_output, i));
    const KeepMask::KeyRange keys = keys_for_block(n, setting.mask, head.b, i0, i1);
    for (int64_t j0 = keys.first; j0 < keys.last; j0 += key_block) {
      const Block block{head.b, head.h, i0, i1, j0, std::min(keys.last, j0 + key_block)};
      backward_block(head, setting, block, q, k, v, log_sum, d_output, delta, to, scratch,
                     scratch + n.scratch() / 2);
    }
  }
}

}  // namespace

int64_t AttentionSizes::scratch() const {
  return 2 * std::min(queries, query_block) * whole_vectors(std::min(keys, key_block));
}

void attention_forward(const AttentionSizes& n, const AttentionSetting& setting, const real* q,
                       const real* k, const real* v, real* output, real* log_sum, real* scratch) {
  const int64_t blocks = (n.queries + query_block - 1) / query_block;
  parallel_for(n.batch * n.heads * blocks, 1, [&](int64_t first, int64_t last) {
    for (int64_t task = first; task < last; ++task) {
      const int64_t i0 = task % blocks * query_block, pair = task / blocks;
      const Head head{n, pair / n.heads, pair % n.heads};
      forward_block(head, setting, i0, std::min(n.queries, i0 + query_block), q, k, v, output,
                    log_sum, scratch + current_worker() * n.scratch());
    }
  });
}

void attention_backward(const AttentionSizes& n, const AttentionSetting& setting, const real* q,
                        const real* k, const real* v, const real* output, const real* log_sum,
                        const real* d_output, Destination dq, Destination dk, Destination dv,
                        real* scratch) {
  parallel_for(n.batch * n.heads, 1, [&](int64_t first, int64_t last) {
    for (int64_t pair = first; pair < last; ++pair)
      backward_head(Head{n, pair / n.heads, pair % n.heads}, setting, q, k, v, output, log_sum,
                    d_output, {dq, dk, dv}, scratch + current_worker() * n.scratch());
  });
}

}  // namespace heed::inline HEED_REAL::kernels
