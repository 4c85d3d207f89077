// Scaled dot-product attention in blocks, without storing the (Tq, Tk) weights:
//
//   o[i] = Σⱼ p[i, j] v[j],   p[i, :] = softmax(s[i, :]),   s[i, j] = scale · q[i] · k[j]
//
// Forward is the online softmax (Milakov & Gimelshein 2018, "Online normalizer calculation for
// softmax"). For one head and a block of queries it visits the keys block by block:
//
//   s  = scale · q kᵀ                       the scores of the block, -inf where masked
//   m' = max(m, max s)                      the running maximum of each row
//   l  = l e^(m - m') + Σ e^(s - m')        the running sum
//   o  = o e^(m - m') + e^(s - m') v        the running output
//
// Then the output is o / l, and log_sum = m + log l is kept. Backward (Dao et al. 2022,
// "FlashAttention", algorithm 4) recomputes the weights of a block from it, p = e^(s - log_sum):
//
//   δᵢ = Σ do[i] ∘ o[i],   dp = do vᵀ,   ds = p ∘ (dp - δ) · scale
//   dq += ds k,   dk += dsᵀ q,   dv += pᵀ do
//
// Forward divides the heads among the threads, and blocks of queries too if there are few heads.
// Backward divides the heads.
#pragma once

#include <cstdint>

#include "core/mask.h"
#include "core/precision.h"
#include "core/random.h"
#include "core/real.h"
#include "core/scope.h"

namespace heed::inline HEED_REAL::kernels {

struct AttentionSizes {
  int64_t batch, heads, queries, keys;  // B, H, Tq, Tk
  int64_t width, value_width;           // K, V: of one head
  int64_t capacity = keys;              // key positions in memory for each example, ≥ keys
};

struct AttentionSettings {
  real scale = 1;
  KeepMask mask;
  double dropout = 0;     // probability, 0 for none
  StreamKey dropout_key;  // weight (b, h, i, j) uses element ((b H + h) Tq + i) Tk + j
  Precision precision = Precision::highest;
  uint32_t version() const { return mask.version(); }  // for Unchanged
};

// q (B, Tq, H·K), k (B, capacity, H·K), v (B, capacity, H·V): head h is in columns
// [h·K, (h + 1)·K).
struct AttentionInputs {
  const real *q, *k, *v;
};

// Computes output (B, Tq, H·V) and log_sum (B, H, Tq). A query that may attend to no key has
// output 0 and log_sum +inf.
void attention_forward(const AttentionSizes& n, const AttentionSettings& settings,
                       const AttentionInputs& in, real* output, real* log_sum);

// Gradients to compute; those whose `data` is null are not. They may share memory if all but the
// first accumulate.
struct AttentionGradients {
  Destination dq, dk, dv;
};

// What forward computed, and the gradient of the output.
struct AttentionResult {
  const real *output, *log_sum, *d_output;
};

// Returns whether backward reads q, k and v only as operands of products in `medium`, which round
// them to bfloat16. Then it gives the same bits if they are rounded before: half of the memory.
bool reads_rounded_inputs(const AttentionSizes& n, const AttentionSettings& settings);
// Rounds the n elements of q, k or v.
void round_attention_input(int64_t n, const real* x, uint16_t* to);

// q, k and v of backward: their elements, or, if these are null, the rounded ones.
struct AttentionOperands {
  AttentionInputs elements;
  const uint16_t *q = nullptr, *k = nullptr, *v = nullptr;
};

// Requires capacity = keys.
void attention_backward(const AttentionSizes& n, const AttentionSettings& settings,
                        const AttentionOperands& in, const AttentionResult& result,
                        const AttentionGradients& to);

}  // namespace heed::inline HEED_REAL::kernels
