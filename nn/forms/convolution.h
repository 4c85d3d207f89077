// A convolution over time: every position reads its k nearest, each through its own matrix.
//
//   y[t] = b + Σⱼ Wⱼ x[t + j - (k-1)/2]       j = 0 … k-1, k odd
//   y[t] = b + Σⱼ Wⱼ x[t + j - (k-1)]         causal: the last term is x[t]
//
// (LeCun et al. 1989; over time: Waibel et al. 1989. In mathematics this is a correlation: the
// kernel is not reversed.) Attention finds what to read by content, a convolution by distance, the
// same for every sequence. With k = 1 no position reads another, and the layer is one linear map.
#pragma once

#include "nn/forms/mixings.h"

namespace heed::inline HEED_REAL {

class Convolution : public Mixing {
 public:
  // Throws Error for an even kernel that is not causal, which has no middle, and for a causal one
  // with circular padding, which would read later positions.
  Convolution(int64_t dim, int64_t kernel_size, Padding padding = Padding::zero,
              bool causal = false, const LinearOptions& options = {});
  // x (B, T, D) → (B, T, D). Of the mask it uses the lengths. Throws Error for a window, a dense
  // mask, and for a causal mask unless it is causal itself.
  Tensor operator()(const Tensor& x, const SequenceContext& sequence) const override;

  Part<Tensor> weight;  // (D, k·D): W₀ … W_{k-1} side by side
  Part<Tensor> bias;    // (D), zeros at first; or no tensor

 private:
  struct Neighbours {
    Ids rows;     // (B, T, k): the position to read, as a row of (B·T)
    Ids outside;  // (B, T, k, 1): 1 where there is no such position; none if there always is
  };
  Neighbours neighbours(int64_t batch, int64_t time, const Ids& lengths) const;

  int64_t kernel_size_;
  Padding padding_;
  bool causal_;
};

}  // namespace heed::inline HEED_REAL
