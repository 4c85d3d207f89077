#include "core/abandon.h"
#include "core/kernels/attention/block.h"
#include "core/kernels/bfloat16/bfloat16.h"
#include "core/kernels/map.h"
#include "core/kernels/scratch.h"
#include "core/kernels/simd/lanes.h"
#include "core/observer.h"
#include "core/parallel.h"
#include "core/precision.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

// The backward pass of one head.
struct HeadBackward {
  const Head& head;
  const AttentionResult& result;
  const AttentionGradients& to;
  TransposedKeys keys, values;
  real *weights, *d_scores;  // of one block

  // The scores of row i become s - log_sum, and -inf where they are not visible.
  void shift_row(const Block& block, int64_t i, real* __restrict scores) const {
    const Columns visible = head.visible_columns(block, i);
    head.apply_dense_mask(block, i, visible, scores);
    const real log_sum = result.log_sum[head.row(i)];
    for (int64_t j = 0; j < block.leading(); j += lanes)
      store(scores + j, select_visible(visible, j, load(scores + j), -infinity) - log_sum);
  }

  // From the weights p of row i, dp becomes ds = p ∘ (dp - δ) · scale, 0 where it is not visible.
  void backward_row(const Block& block, int64_t i, real delta, real* __restrict p,
                    real* __restrict ds) const {
    const Columns visible = head.visible_columns(block, i);
    const real scale = head.settings.scale;
    if (head.settings.dropout > 0) {  // dropout applies to p in the output and to dp
      const DropoutRow dropout(head, block, i);
      for (int64_t j = visible.first; j < visible.last; ++j) {
        ds[j] = p[j] * (ds[j] * dropout.factors[j] - delta) * scale;
        p[j] *= dropout.factors[j];
      }
    } else {
      for (int64_t j = 0; j < block.leading(); j += lanes)
        store(ds + j, load(p + j) * (load(ds + j) - delta) * scale);
    }
    for (int64_t j = 0; j < block.leading(); j += lanes)
      store(ds + j, select_visible(visible, j, load(ds + j), 0));
  }

  void backward_block(const Block& block, const real* delta) const {
    const AttentionSizes& n = head.n;
    const int64_t rows = block.rows(), columns = block.columns(), leading = block.leading();
    const MatrixView d_out(head.output(result.d_output, block.i0), rows, n.value_width,
                           head.ld_value());
    compute_scores(head, block, keys, weights);
    head.multiply(d_out, values.columns(block.j0, columns), {d_scores, false},
                  leading);  // dp = do · vᵀ
    for (int64_t i = 0; i < rows; ++i) shift_row(block, block.i0 + i, weights + i * leading);
    exponentiate(block, weights);
    for (int64_t i = 0; i < rows; ++i)
      backward_row(block, block.i0 + i, delta[i], weights + i * leading, d_scores + i * leading);
    const MatrixView p(weights, rows, columns, leading), ds(d_scores, rows, columns, leading);
    if (to.dq.data)  // dq += ds · k
      head.multiply(ds, head.keys(block.j0, columns), {head.query(to.dq.data, block.i0), true},
                    head.ld());
    if (to.dk.data)  // dk += dsᵀ · q
      head.multiply(ds.t(), head.queries(block.i0, rows), {head.key(to.dk.data, block.j0), true},
                    head.ld());
    if (to.dv.data)  // dv += pᵀ · do
      head.multiply(p.t(), d_out, {head.value(to.dv.data, block.j0), true}, head.ld_value());
  }

  void run() const {
    const AttentionSizes& n = head.n;
    if (to.dq.data && !to.dq.accumulate)
      zero_rows(n.queries, n.width, head.query(to.dq.data, 0), head.ld());
    if (to.dk.data && !to.dk.accumulate)
      zero_rows(n.keys, n.width, head.key(to.dk.data, 0), head.ld());
    if (to.dv.data && !to.dv.accumulate)
      zero_rows(n.keys, n.value_width, head.value(to.dv.data, 0), head.ld_value());
    for (int64_t i0 = 0; i0 < n.queries && !is_abandoned(); i0 += query_block(n)) {
      const int64_t i1 = std::min(n.queries, i0 + query_block(n));
      real delta[max_query_block];  // δᵢ = Σ do ∘ o = Σⱼ p[i, j] dp[i, j]
      for (int64_t i = i0; i < i1; ++i)
        delta[i - i0] =
            row_dot(n.value_width, head.output(result.output, i), head.output(result.d_output, i));
      for_each_key_block(head.keys_for(i0, i1), [&](int64_t j0, int64_t j1) {
        backward_block({i0, i1, j0, j1}, delta);
      });
    }
  }
};

// Rounds x to the nearest bfloat16, the upper half of a float32, ties to even. A NaN stays one.
// Values smaller than 2^-126 become zero, as where a product rounds (bfloat16/rounding.h).
uint16_t to_bfloat16(float x) {
  auto bits = __builtin_bit_cast(uint32_t, x);
  bits &= bits & 0x7f800000 ? 0xffffffff : 0x80000000;
  const uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1), quiet = bits | 0x400000;
  return static_cast<uint16_t>(((bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded) >> 16);
}

// Rows of bfloat16 values, the first `width` of every `ld`, as contiguous float32.
void widen_rows(int64_t rows, int64_t width, const uint16_t* from, int64_t ld, real* to) {
  for (int64_t i = 0; i < rows; ++i)
    map_range(0, width, {to + i * width, false}, [row = from + i * ld](int64_t c) {
      return __builtin_bit_cast(float, uint32_t{row[c]} << 16);
    });
}

// The elements of memory that widened() needs.
int64_t widened_size(const AttentionSizes& n) {
  return n.queries * n.width + n.keys * (n.width + n.value_width);
}

// The rows of a head in arrays of bfloat16 values, as float32 in `memory`.
HeadInputs widened(const Head& head, const AttentionOperands& in, real* memory) {
  const AttentionSizes& n = head.n;
  real *const q = memory, *const k = q + n.queries * n.width, *const v = k + n.keys * n.width;
  widen_rows(n.queries, n.width, head.query(in.q, 0), head.ld(), q);
  widen_rows(n.keys, n.width, head.key(in.k, 0), head.ld(), k);
  widen_rows(n.keys, n.value_width, head.value(in.v, 0), head.ld_value(), v);
  return {q, k, v, n.width, n.value_width};
}

}  // namespace

// The sides of all products must be long enough, also in the last block of queries and in the last
// of the keys that these may attend to. `side` divides all of them.
bool reads_rounded_inputs(const AttentionSizes& n, const AttentionSettings& settings) {
  constexpr int64_t side = 32;
  const KeepMask& mask = settings.mask;
  return settings.precision == Precision::medium &&
         uses_bfloat16(side, side, side, settings.precision) && mask.window == 0 &&
         !mask.key_lengths && n.queries % side == 0 && n.keys % side == 0 && n.width >= side &&
         n.value_width >= side;
}

void round_attention_input(int64_t n, const real* x, uint16_t* to) {
  parallel_for(n, chunk_elements, [=](int64_t first, int64_t last) {
    const real* const from = x;
    uint16_t* __restrict rounded = to;
#pragma GCC ivdep
    for (int64_t i = first; i < last; ++i) rounded[i] = to_bfloat16(static_cast<float>(from[i]));
  });
}

void attention_backward(const AttentionSizes& n, const AttentionSettings& settings,
                        const AttentionOperands& in, const AttentionResult& result,
                        const AttentionGradients& to) {
  const int64_t keys_size = TransposedKeys::size(n, n.width),
                transposed_size = keys_size + TransposedKeys::size(n, n.value_width),
                scratch_size = 2 * block_size(n) + transposed_size + (in.q ? widened_size(n) : 0);
  const int threads = thread_count();
  // Another thread may raise the number of threads: the loop must not use more than have scratch.
  const ValueGuard limit(Threads::here().limit, std::min(Threads::here().limit, threads));
  const Scratch scratch(threads * scratch_size);
  // P from Q Kᵀ, dQ = dS K and dK = dSᵀ Q; dP = dO Vᵀ and dV = Pᵀ dO
  const int64_t of_keys = 1 + (to.dq.data != nullptr) + (to.dk.data != nullptr);
  const int64_t of_values = 1 + (to.dv.data != nullptr);
  if (ObserverScope::exists())
    report(Work::multiplications, computed_pairs(n, settings),
           of_keys * n.width + of_values * n.value_width, n.batch * n.heads);
  const auto run_heads = [&](int64_t first, int64_t last) {
    for (int64_t index = first; index < last; ++index) {
      Head head{n, settings, index / n.heads, index % n.heads, {}};
      const KeepMask::KeyRange range = head.keys_for(0, n.queries);
      real* const weights = scratch.data() + current_worker() * scratch_size;
      real* const d_scores = weights + block_size(n);
      real* const transposed = d_scores + block_size(n);
      head.in =
          in.q ? widened(head, in, transposed + transposed_size) : head.inputs_in(in.elements);
      HeadBackward{head,
                   result,
                   to,
                   {n, range, head.in.k, head.in.ld, n.width, transposed},
                   {n, range, head.in.v, head.in.ld_value, n.value_width, transposed + keys_size},
                   weights,
                   d_scores}
          .run();
    }
  };
  parallel_for(n.batch * n.heads, 1, run_heads, attention_work(n));
}

}  // namespace heed::inline HEED_REAL::kernels
