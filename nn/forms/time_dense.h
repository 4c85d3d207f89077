// A dense layer over time: the weight of position j for position i is a parameter.
//
//   yᵢ = Wᵒ Σⱼ wᵢⱼ (W^V xⱼ + b^V) + bᵒ
//
// Attention computes wᵢⱼ from the vectors at i and j; here it is learned once, for all sequences.
// The layer therefore cannot follow content that moves, and has weights for a maximum length.
// (Tolstikhin et al. 2021, MLP-Mixer, mixes positions by such matrices.)
#pragma once

#include "nn/forms/mixings.h"

namespace heed::inline HEED_REAL {

class TimeDense : public Mixing {
 public:
  TimeDense(int64_t dim, int64_t length, const LinearOptions& options = {});
  // x (B, T, D), T ≤ length → (B, T, D). A shorter sequence uses the first T × T weights. Padding
  // contributes nothing. Throws Error for a longer sequence, and for any mask but lengths: every
  // position reads every other.
  Tensor operator()(const Tensor& x, const SequenceContext& sequence) const override;

  Part<Tensor> weight;  // (length, length): row i holds wᵢⱼ

 private:
  Part<Linear> value_, output_;  // D → D
};

// One dense layer from all positions and features to all of them:
//
//   yᵢ = Σⱼ Wᵢⱼ xⱼ + bᵢ          a matrix for each pair of positions: length² D² weights
class FullDense : public Mixing {
 public:
  // Throws InputError for more than 2³¹ weights.
  FullDense(int64_t dim, int64_t length, const LinearOptions& options = {});
  // As TimeDense.
  Tensor operator()(const Tensor& x, const SequenceContext& sequence) const override;

 private:
  int64_t dim_, length_;
  Part<Linear> matrix_;  // length·D → length·D
};

}  // namespace heed::inline HEED_REAL
