// A convolution: every position reads its k nearest, each through its own matrix.
//
//   y[t] = b + Σⱼ Wⱼ x[t + j - (k-1)/2]       j = 0 … k-1, k odd
//   y[t] = b + Σⱼ Wⱼ x[t + j - (k-1)]         causal: the last term is x[t]
//
// On a grid of r axes t is a cell, and j and k are those of each axis: an image has k × k matrices,
// and a pixel reads its neighbours in all directions. A row ends where the next begins. With
// `scalar` each Wⱼ is a number wⱼ, the same for all features (Pitié's form).
//
// (LeCun et al. 1989; over time: Waibel et al. 1989. In mathematics this is a correlation: the
// kernel is not reversed.) Attention finds what to read by content, a convolution by distance, the
// same for every sequence. With k = 1 no position reads another, and the layer is one linear map.
#pragma once

#include "nn/forms/mixings.h"

namespace heed::inline HEED_REAL {

// What a convolution reads, besides its kernel size.
struct ConvolutionForm {
  std::vector<int64_t> grid = {};           // lengths of its axes, row-major; empty: a sequence
  std::vector<int64_t> circular_axes = {};  // where `padding` is circular; empty: every axis
  bool scalar = false;                      // a number for each neighbour, not a matrix
};

// The layer above.
class Convolution : public Mixing {
 public:
  // Throws Error for an even kernel that is not causal, which has no middle, for a causal one with
  // circular padding, which would read later positions, or on a grid of several axes, which have no
  // order, and for more than 1,025 neighbours.
  Convolution(int64_t dim, int64_t kernel_size, Padding padding = Padding::zero,
              bool causal = false, const LinearOptions& options = {},
              const ConvolutionForm& form = {});
  // x (B, T, D) → (B, T, D). Of the mask it uses the lengths, which a grid fills. Throws Error for
  // a window, a dense mask, and for a causal mask unless it is causal itself.
  Tensor operator()(const Tensor& x, const SequenceContext& sequence) const override;

  Part<Tensor> weight;  // (D, n·D): W₀ … of the n = kʳ neighbours, row-major; scalar: (1, n)
  Part<Tensor> bias;    // (D), zeros at first; or no tensor

 private:
  struct Neighbours {
    Ids rows;     // (B, T, n): the position to read, as a row of (B·T)
    Ids outside;  // (B, T, n, 1): 1 where there is no such position; none if there always is
  };
  Neighbours neighbours(int64_t batch, int64_t time, const Ids& lengths) const;
  int64_t read_from(int64_t t, int64_t j, std::span<const int64_t> lengths) const;

  int64_t dim_, kernel_size_;
  std::vector<bool> circular_;  // for each axis
  bool causal_;
  ConvolutionForm form_;
};

}  // namespace heed::inline HEED_REAL
