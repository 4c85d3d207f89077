#include <cmath>

#include "core/abandon.h"
#include "core/kernels/attention/block.h"
#include "core/kernels/scratch.h"
#include "core/observer.h"
#include "core/parallel.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

// The running maximum m and sum l of one query's scores.
struct RunningSoftmax {
  real maximum = -infinity, sum = 0;
  real correction = 0;  // e^(m - m'), by which the sum and the output so far must be multiplied

  // Takes the next scores of the row into account, which become s - m', and -inf where they are not
  // visible.
  void shift(Columns visible, int64_t width, real* __restrict scores) {
    Vector largest = broadcast(-infinity);
    for (int64_t j = 0; j < width; j += lanes) {
      const Vector s = select_visible(visible, j, load(scores + j), -infinity);
      store(scores + j, s);
      largest = s > largest ? s : largest;
    }
    const real before = maximum;
    maximum = std::max(maximum, kernels::maximum(largest));
    // If all scores so far are masked, -inf - -inf would be NaN. A score that is NaN stays NaN.
    const real m = maximum == -infinity ? 0 : maximum;
    for (int64_t j = 0; j < width; j += lanes) store(scores + j, load(scores + j) - m);
    correction = before == -infinity ? real{0} : std::exp(before - maximum);
  }

  // Takes the exponentials of what shift() computed.
  void add(int64_t width, const real* weights) {
    Vector added{};
    for (int64_t j = 0; j < width; j += lanes) added += load(weights + j);
    sum = sum * correction + kernels::sum(added);
  }
};

// Computes the output and log_sum of queries [i0, i1).
void forward_block(const Head& head, int64_t i0, int64_t i1, const TransposedKeys& keys,
                   real* output, real* log_sum, real* scores) {
  const AttentionSizes& n = head.n;
  RunningSoftmax softmax[max_query_block];
  bool first = true;
  for_each_key_block(head.keys_for(i0, i1), [&](int64_t j0, int64_t j1) {
    const Block block{i0, i1, j0, j1};
    compute_scores(head, block, keys, scores);
    const int64_t width = block.leading();
    for (int64_t i = i0; i < i1; ++i) {
      real* const row = scores + (i - i0) * width;
      const Columns visible = head.visible_columns(block, i);
      head.apply_dense_mask(block, i, visible, row);
      RunningSoftmax& running = softmax[i - i0];
      running.shift(visible, width, row);
      if (!first && running.correction != 1)
        for (int64_t c = 0; c < n.value_width; ++c) head.output(output, i)[c] *= running.correction;
    }
    exponentiate(block, scores);
    for (int64_t i = i0; i < i1; ++i) {
      real* const row = scores + (i - i0) * width;
      softmax[i - i0].add(width, row);
      if (head.settings.dropout > 0) {
        const DropoutRow dropout(head, block, i);
        for (int64_t j = 0; j < block.columns(); ++j) row[j] *= dropout.factors[j];
      }
    }
    head.multiply({scores, block.rows(), block.columns(), block.leading()},
                  head.values(j0, block.columns()), {head.output(output, i0), !first},
                  head.ld_value());
    first = false;
  });
  for (int64_t i = i0; i < i1; ++i) {
    const real maximum = softmax[i - i0].maximum, sum = softmax[i - i0].sum;
    real* o = head.output(output, i);
    if (sum == 0)  // no visible key
      std::fill_n(o, n.value_width, real{0});
    else
      for (int64_t c = 0; c < n.value_width; ++c) o[c] /= sum;
    log_sum[head.row(i)] = sum == 0 ? infinity : maximum + std::log(sum);
  }
}

}  // namespace

void attention_forward(const AttentionSizes& n, const AttentionSettings& settings,
                       const AttentionInputs& in, real* output, real* log_sum) {
  // A task is a head, or, if there are few heads, one to four blocks of its queries.
  const int threads = thread_count();
  // Another thread may raise the number of threads: the loop must not use more than have scratch.
  const ValueGuard limit(Threads::here().limit, std::min(Threads::here().limit, threads));
  const int64_t all_heads = n.batch * n.heads;
  const bool whole_heads = all_heads % threads == 0 || all_heads >= 4 * threads;
  const int64_t block = query_block(n),
                blocks = std::max<int64_t>(1, (n.queries + block - 1) / block);
  const int64_t task_queries =
      block * (whole_heads ? blocks : std::clamp<int64_t>(blocks / 2, 1, 4));
  const int64_t tasks = (n.queries + task_queries - 1) / task_queries;  // of each head
  const int64_t scratch_size = block_size(n) + TransposedKeys::size(n, n.width);
  const Scratch scratch(threads * scratch_size);
  // Q Kᵀ and P V
  if (ObserverScope::exists())
    report(Work::multiplications, computed_pairs(n, settings), n.width + n.value_width, all_heads);
  const auto run_tasks = [&](int64_t first, int64_t last) {
    for (int64_t task = first; task < last; ++task) {
      const int64_t index = task / tasks, begin = task % tasks * task_queries;
      const int64_t end = std::min(n.queries, begin + task_queries);
      Head head{n, settings, index / n.heads, index % n.heads, {}};
      head.in = head.inputs_in(in);
      real* const scores = scratch.data() + current_worker() * scratch_size;
      const TransposedKeys keys(n, head.keys_for(begin, end), head.in.k, head.in.ld, n.width,
                                scores + block_size(n));
      for (int64_t i = begin; i < end && !is_abandoned(); i += block)
        forward_block(head, i, std::min(end, i + block), keys, output, log_sum, scores);
    }
  };
  parallel_for(all_heads * tasks, 1, run_tasks, attention_work(n));
}

}  // namespace heed::inline HEED_REAL::kernels
