// A dense layer over time: the weight of place j for place i is a parameter.
//
//   yᵢ = Wᵒ Σⱼ wᵢⱼ (W^V xⱼ + b^V) + bᵒ
//
// It differs from attention in one thing, where wᵢⱼ comes from: attention computes it from what
// stands at i and j, here it is learned once, for all sequences. So it cannot follow what moves,
// and holds weights for a greatest length. (Tolstikhin et al. 2021, MLP-Mixer, mixes places by such
// matrices.)
#pragma once

#include "nn/linear.h"
#include "nn/sequence_context.h"

namespace heed::inline HEED_REAL {

class TimeDense : public Mixing {
 public:
  TimeDense(int64_t dim, int64_t length, const LinearOptions& options = {});
  // x (B, T, D), T ≤ length → (B, T, D); a shorter sequence takes the first T × T weights. Places
  // that are not real contribute nothing. Throws Error for a longer sequence, and for any mask but
  // lengths: every place sees every other.
  Tensor operator()(const Tensor& x, const SequenceContext& around) const override;

  Tensor weight;  // (length, length): row i holds wᵢⱼ

 private:
  Linear value_, output_;  // D → D
};

}  // namespace heed::inline HEED_REAL
