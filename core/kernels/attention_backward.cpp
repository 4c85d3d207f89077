#include <cmath>

#include "core/kernels/attention_block.h"
#include "core/kernels/simd/lanes.h"
#include "core/kernels/simd/vector_math.h"
#include "core/parallel.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

void fill_rows(real* first, int64_t rows, int64_t width, int64_t leading, real value) {
  for (int64_t i = 0; i < rows; ++i) std::fill_n(first + i * leading, width, value);
}

struct Turned {
  TransposedKeys keys, values;
};

struct Gradients {
  Destination dq, dk, dv;
};

void backward_block(const Head& head, const AttentionSetting& setting, const Block& block,
                    const real* q, const real* k, const Turned& turned, const real* log_sum,
                    const real* d_output, const real* delta, const Gradients& to, real* scores,
                    real* d_weights) {
  const AttentionSizes& n = head.n;
  const Matrix d_out(head.output(d_output, block.i0), block.rows(), n.value_width, head.ld_value());
  score(head, setting, block, q, turned.keys, scores);
  const int64_t leading = block.leading();
  multiply(setting, d_out, turned.values.columns(block.j0, block.columns()), {d_weights, false},
           leading);  // dp = do · vᵀ
  for (int64_t i = block.i0; i < block.i1; ++i) {
    real* __restrict p = scores + (i - block.i0) * leading;
    real* __restrict ds = d_weights + (i - block.i0) * leading;
    const KeepMask::KeyRange seen = columns_for(n, setting.mask, block, i);
    hide(setting.mask.dense_row(head.b, head.h, i), seen, block.j0, p);
    const real log_total = log_sum[head.row(i)], d = delta[i - block.i0], scale = setting.scale;
    const KeepMask::KeyRange kept = vectors_of(seen);
    for (int64_t first = kept.first; first < kept.last; first += lanes) {
      store(p + first, only_seen(seen, first, load(p + first), -infinity));
      for (int64_t j = first; j < first + lanes; ++j) p[j] = exp(p[j] - log_total);
    }
    // ds = p ∘ (dp - δ) · scale, of dp what dropout kept
    if (setting.dropout > 0) {
      const DropoutRow drop(n, setting, block, i);
      for (int64_t j = seen.first; j < seen.last; ++j) {
        ds[j] = p[j] * (ds[j] * drop.factors[j] - d) * scale;
        p[j] *= drop.factors[j];
      }
    } else {
      for (int64_t first = kept.first; first < kept.last; first += lanes)
        store(ds + first, load(p + first) * (load(ds + first) - d) * scale);
    }
    for (int64_t first = kept.first; first < kept.last; first += lanes)
      store(ds + first, only_seen(seen, first, load(ds + first), 0));
    clear_others(kept, leading, p);
    clear_others(kept, leading, ds);
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
  const int64_t block_numbers = block_scratch(n);
  real* const d_weights = scratch + block_numbers;
  real* const turned_keys = d_weights + block_numbers;
  const KeepMask::KeyRange all = keys_for_block(n, setting.mask, head.b, 0, n.queries);
  const Turned turned{{n, all, head.key(k, 0), head.ld(), n.width, turned_keys},
                      {n, all, head.value(v, 0), head.ld_value(), n.value_width,
                       turned_keys + TransposedKeys::numbers(n, n.width)}};
  for (int64_t i0 = 0; i0 < n.queries; i0 += query_block(n)) {
    const int64_t i1 = std::min(n.queries, i0 + query_block(n));
    real delta[most_queries];  // δᵢ = Σ do ∘ o = Σⱼ pᵢⱼ dpᵢⱼ
    for (int64_t i = i0; i < i1; ++i)
      delta[i - i0] = row_dot(n.value_width, head.output(output, i), head.output(d_output, i));
    for_each_key_block(keys_for_block(n, setting.mask, head.b, i0, i1),
                       [&](int64_t j0, int64_t j1) {
                         backward_block(head, setting, {head.b, head.h, i0, i1, j0, j1}, q, k,
                                        turned, log_sum, d_output, delta, to, scratch, d_weights);
                       });
  }
}

}  // namespace

int64_t AttentionSizes::backward_scratch() const {
  return 2 * block_scratch(*this) + TransposedKeys::numbers(*this, width) +
         TransposedKeys::numbers(*this, value_width);
}

void attention_backward(const AttentionSizes& n, const AttentionSetting& setting, const real* q,
                        const real* k, const real* v, const real* output, const real* log_sum,
                        const real* d_output, Destination dq, Destination dk, Destination dv,
                        real* scratch) {
  parallel_for(n.batch * n.heads, 1, [&](int64_t first, int64_t last) {
    for (int64_t pair = first; pair < last; ++pair)
      backward_head(Head{n, pair / n.heads, pair % n.heads}, setting, q, k, v, output, log_sum,
                    d_output, {dq, dk, dv}, scratch + current_worker() * n.backward_scratch());
  });
}

}  // namespace heed::inline HEED_REAL::kernels
