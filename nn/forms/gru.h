// A gated recurrent unit (Cho et al. 2014, section 2.3), which reads a sequence from left to right:
//
//   r = σ(W_r x[t] + b_r + U_r h + c_r)              reset gate
//   z = σ(W_z x[t] + b_z + U_z h + c_z)              update gate
//   n = tanh(W_n x[t] + b_n + r ∘ (U_n h + c_n))     new state
//   h ← (1 - z) ∘ n + z ∘ h                          h = 0 at first;  y[t] = h
//
// The reset gate acts after the product with U_n, as in PyTorch (in Cho et al. before it), and the
// parameters are those of torch.nn.GRU: the gates r, z, n stacked. Each step needs the state of the
// one before, so that positions cannot be computed in parallel, as attention computes them.
#pragma once

#include "nn/forms/mixings.h"

namespace heed::inline HEED_REAL {

class Gru : public Mixing {
 public:
  explicit Gru(int64_t dim, const LinearOptions& options = {});
  // x (B, T, D) → (B, T, D): the state after every position. No position depends on a later one, so
  // lengths and a causal mask change nothing at real positions. Throws Error for other masks.
  Tensor operator()(const Tensor& x, const SequenceContext& sequence) const override;

 private:
  int64_t dim_;
  Part<Linear> input_;      // D → 3·D: W and b
  Part<Linear> recurrent_;  // D → 3·D: U and c
};

}  // namespace heed::inline HEED_REAL
