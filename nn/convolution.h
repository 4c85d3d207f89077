// A convolution over time: every place reads its k nearest, each through a matrix of its own.
//
//   y[t] = b + Σⱼ Wⱼ x[t + j - (k-1)/2]       j = 0 … k-1, k odd
//   y[t] = b + Σⱼ Wⱼ x[t + j - (k-1)]         causal: the last term is the place itself
//
// (LeCun et al. 1989; over time: Waibel et al. 1989. In the field's words a convolution, in those
// of mathematics a correlation: the kernel is not turned around.) Attention finds what to read by
// its content, a convolution by its distance, which is the same for every sequence. With k = 1 no
// place reads another, and the layer is one linear map.
#pragma once

#include "nn/linear.h"
#include "nn/sequence_context.h"

namespace heed::inline HEED_REAL {

// What is read beyond the first and the last real place of a sequence.
enum class Padding {
  zero,      // nothing
  circular,  // the sequence again, as if its ends were joined
};

class Convolution : public Mixing {
 public:
  // Throws Error for an even kernel that is not causal, which has no middle, and for a causal one
  // with circular padding, whose past would be the future.
  Convolution(int64_t dim, int64_t kernel_size, Padding padding, bool causal,
              const LinearOptions& options = {});
  // x (B, T, D) → (B, T, D). Of the mask it keeps to the lengths, and to causality if it was made
  // so; throws Error for what it cannot keep to.
  Tensor operator()(const Tensor& x, const SequenceContext& around) const override;

  Tensor weight;  // (D, k·D): W₀ … W_{k-1} side by side
  Tensor bias;    // (D), zeros at first; or no tensor

 private:
  struct Neighbours {
    Ids rows;     // (B, T, k): the place read, as a row of (B·T)
    Ids outside;  // (B, T, k, 1): 1 where there is no such place; no array where there always is
  };
  Neighbours neighbours(int64_t batch, int64_t time, const Ids& lengths) const;

  int64_t kernel_size_;
  Padding padding_;
  bool causal_;
};

}  // namespace heed::inline HEED_REAL
