// Scaled dot-product attention over blocks, without the (Tq, Tk) weights in memory
// (the forward of Milakov & Gimelshein 2018, "Online normalizer calculation for softmax", and the
// backward of Dao et al. 2022, "FlashAttention", algorithm 4).
//
// For one example b and head h, and a block of queries, keys are visited block by block:
//   s = scale · q kᵀ         the scores of one block, hidden ones left out
//   m' = max(m, max s)       what was summed so far is rescaled by e^(m - m')
//   l  = l e^(m-m') + Σ e^(s-m')          o = o e^(m-m') + e^(s-m') v
// and at the end o / l is the output and log_sum = m + log l is kept: from it backward recomputes
// the weights p = e^(s - log_sum) of any block.
#pragma once

#include <cstdint>

#include "core/destination.h"
#include "core/mask.h"
#include "core/random.h"
#include "core/scope.h"

namespace heed::inline HEED_REAL::kernels {

// Heads stand side by side in the last axis: q (B, Tq, H·K), k (B, Tk, H·K), v (B, Tk, H·Kv).
struct AttentionSizes {
  int64_t batch, heads, queries, keys;
  int64_t width, value_width;  // K, Kv: of one head
  int64_t capacity = keys;     // keys of an example there is room for: behind `keys` is nothing

  // Numbers of scratch memory for each worker.
  int64_t forward_scratch() const;
  int64_t backward_scratch() const;
};

struct AttentionSetting {
  real scale = 1;
  KeepMask mask;
  double dropout = 0;     // probability, 0 for none
  StreamKey dropout_key;  // names the mask: element ((b H + h) Tq + i) Tk + j
  Precision precision = Precision::highest;
};

// output (B, Tq, H·Kv); log_sum (B, H, Tq), +inf where a query sees no key. `scratch`:
// sizes.forward_scratch() numbers for each worker.
void attention_forward(const AttentionSizes& sizes, const AttentionSetting& setting, const real* q,
                       const real* k, const real* v, real* output, real* log_sum, real* scratch);

// Gradients for q, k and v, without room to spare; where `data` is null it is not wanted. They may
// be the same memory, if all but the first accumulate.
void attention_backward(const AttentionSizes& sizes, const AttentionSetting& setting, const real* q,
                        const real* k, const real* v, const real* output, const real* log_sum,
                        const real* d_output, Destination dq, Destination dk, Destination dv,
                        real* scratch);

}  // namespace heed::inline HEED_REAL::kernels
