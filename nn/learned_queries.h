// A fixed number of learned queries, which read a sequence of any length and order (Lee et al.
// 2019, "Set Transformer", equation 11; with one query the word attention of Yang et al. 2016).
#pragma once

#include "nn/attention.h"

namespace heed::inline HEED_REAL {

class LearnedQueries : public Module {
 public:
  // Throws Error for a causal form or a window: learned queries have no position in the sequence.
  LearnedQueries(int64_t count, int64_t dim, int64_t heads,
                 const MultiHeadAttentionOptions& options = {});
  // x (B, T, D) → (B, count, D). `mask` may hide keys; throws Error if it is causal or a window.
  Tensor operator()(const Tensor& x, const KeepMask& mask) const;

  Part<Tensor> queries;  // (count, D)

 private:
  Part<std::unique_ptr<MultiHeadAttention>> attention_;
};

}  // namespace heed::inline HEED_REAL
