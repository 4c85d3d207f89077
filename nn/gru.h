// A gated recurrent unit (Cho et al. 2014, section 2.3), which reads a sequence from left to right:
//
//   r = σ(W_r x[t] + b_r + U_r h + c_r)         how much of the state the news is weighed against
//   z = σ(W_z x[t] + b_z + U_z h + c_z)         how much of the state stays
//   n = tanh(W_n x[t] + b_n + r ∘ (U_n h + c_n))
//   h ← (1 - z) ∘ n + z ∘ h                     h = 0 at first;  y[t] = h
//
// The reset gate r acts behind the product with U_n, as in PyTorch (Cho et al. have it before), and
// parameters are those of torch.nn.GRU: the gates r, z, n below one another. A step waits for the
// one before, so that time cannot be shared among threads: what attention was made to get rid of.
#pragma once

#include "nn/linear.h"
#include "nn/sequence_context.h"

namespace heed::inline HEED_REAL {

class Gru : public Mixing {
 public:
  explicit Gru(int64_t dim, const LinearOptions& options = {});
  // x (B, T, D) → (B, T, D): the state after every place. No place sees a later one, so neither
  // lengths nor a causal mask change anything for real places; throws Error for other masks.
  Tensor operator()(const Tensor& x, const SequenceContext& around) const override;

 private:
  int64_t dim_;
  Linear input_;      // D → 3·D: W and b
  Linear recurrent_;  // D → 3·D: U and c
};

}  // namespace heed::inline HEED_REAL
