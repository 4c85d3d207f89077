#include <cmath>

#include "core/kernels/attention_block.h"
#include "core/kernels/simd/vector_math.h"
#include "core/parallel.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

// The columns of a row that are seen become e^(s - m'), m' the greatest score so far; the others,
// up to `width`, 0. `most` and `total` move on. Returns e^(m - m'), by which older results shrink.
real soften(KeepMask::KeyRange seen, int64_t width, real* __restrict scores, real& most,
            real& total) {
  const auto [begin, end] = vectors_of(seen);
  Vector high = Vector{} - infinity;
  for (int64_t first = begin; first < end; first += lanes) {
    const Vector here = only_seen(seen, first, load(scores + first), -infinity);
    store(scores + first, here);
    high = here > high ? here : high;
  }
  const real before = most;
  most = std::max(most, greatest(high));
  // With nothing to attend to yet -inf - -inf would be NaN; what is NaN itself stays so.
  const real shift = most == -infinity ? 0 : most;
  Vector added{};
  for (int64_t first = begin; first < end; first += lanes) {
    for (int64_t j = first; j < first + lanes; ++j) scores[j] = exp(scores[j] - shift);
    added += load(scores + first);
  }
  clear_others({begin, end}, width, scores);
  const real shrink = before == -infinity ? real{0} : std::exp(before - most);
  total = total * shrink + sum(added);
  return shrink;
}

void forward_block(const Head& head, const AttentionSetting& setting, int64_t i0, int64_t i1,
                   const real* q, const TransposedKeys& keys_turned, const real* v, real* output,
                   real* log_sum, real* scores) {
  const AttentionSizes& n = head.n;
  real most[most_queries], total[most_queries];
  std::fill_n(most, i1 - i0, -infinity);
  std::fill_n(total, i1 - i0, real{0});
  const KeepMask::KeyRange keys = keys_for_block(n, setting.mask, head.b, i0, i1);
  bool first = true;
  for_each_key_block(keys, [&](int64_t j0, int64_t j1) {
    const Block block{head.b, head.h, i0, i1, j0, j1};
    score(head, setting, block, q, keys_turned, scores);
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
  });
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

}  // namespace

int64_t AttentionSizes::forward_scratch() const {
  return block_scratch(*this) + TransposedKeys::numbers(*this, width);
}

void attention_forward(const AttentionSizes& n, const AttentionSetting& setting, const real* q,
                       const real* k, const real* v, real* output, real* log_sum, real* scratch) {
  // A task is a head, or, where there are too few of them, some blocks of its queries.
  const int64_t pairs = n.batch * n.heads, threads = thread_count();
  const bool whole = pairs % threads == 0 || pairs >= 4 * threads;
  const int64_t block = query_block(n),
                blocks = std::max<int64_t>(1, (n.queries + block - 1) / block);
  const int64_t together = block * (whole ? blocks : std::clamp<int64_t>(blocks / 2, 1, 4));
  const int64_t parts = (n.queries + together - 1) / together;
  parallel_for(pairs * parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t task = first; task < last; ++task) {
      const int64_t pair = task / parts, begin = task % parts * together;
      const int64_t end = std::min(n.queries, begin + together);
      const Head head{n, pair / n.heads, pair % n.heads};
      real* const scores = scratch + current_worker() * n.forward_scratch();
      const TransposedKeys keys(n, keys_for_block(n, setting.mask, head.b, begin, end),
                                head.key(k, 0), head.ld(), n.width, scores + block_scratch(n));
      for (int64_t i = begin; i < end; i += block)
        forward_block(head, setting, i, std::min(end, i + block), q, keys, v, output, log_sum,
                      scores);
    }
  });
}

}  // namespace heed::inline HEED_REAL::kernels
