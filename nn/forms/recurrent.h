// Recurrent layers, which read a sequence from left to right. Each step needs the state of the one
// before, so that positions cannot be computed in parallel, as attention computes them.
//
// A gated recurrent unit (Cho et al. 2014, section 2.3):
//
//   r = σ(W_r x[t] + b_r + U_r h + c_r)              reset gate
//   z = σ(W_z x[t] + b_z + U_z h + c_z)              update gate
//   n = tanh(W_n x[t] + b_n + r ∘ (U_n h + c_n))     new state
//   h ← (1 - z) ∘ n + z ∘ h                          h = 0 at first;  y[t] = h
//
// The reset gate acts after the product with U_n, as in PyTorch (in Cho et al. before it).
//
// A long short-term memory (Hochreiter & Schmidhuber 1997; with a forget gate, Gers et al. 2000):
//
//   i, f, o = σ(W x[t] + b + U h + c)                input, forget and output gate
//   g = tanh(W_g x[t] + b_g + U_g h + c_g)           new content
//   s ← f ∘ s + i ∘ g                                cell, s = 0 at first
//   h ← o ∘ tanh(s)                                  h = 0 at first;  y[t] = h
//
// The parameters are those of torch.nn.GRU and torch.nn.LSTM: the gates r, z, n and i, f, g, o are
// stacked.
#pragma once

#include <vector>

#include "nn/forms/mixings.h"

namespace heed::inline HEED_REAL {

// What both layers share. Clients do not need it.
class Recurrent : public Mixing {
 public:
  // x (B, T, D) → (B, T, D): the state h after every position. No position depends on a later one,
  // so lengths and a causal mask change nothing at real positions. Throws Error for other masks.
  Tensor operator()(const Tensor& x, const SequenceContext& sequence) const override;

 protected:
  using Gates = std::vector<Tensor>;  // (B, D) for each

  Recurrent(const char* name, int64_t dim, int64_t gates, const LinearOptions& options);

 private:
  // One step: `wx` is W x[t] + b and `uh` is U h + c, gate by gate. Returns the next h (B, D), and
  // replaces the cell (B, D).
  virtual Tensor step(const Gates& wx, const Gates& uh, const Tensor& h, Tensor& cell) const = 0;

  const char* name_;
  int64_t dim_;
  std::vector<int64_t> gates_;  // their widths, D
  Part<Linear> input_;          // D → gates·D: W and b
  Part<Linear> recurrent_;      // D → gates·D: U and c
};

// The gated recurrent unit.
class Gru : public Recurrent {
 public:
  explicit Gru(int64_t dim, const LinearOptions& options = {});

 private:
  Tensor step(const Gates& wx, const Gates& uh, const Tensor& h, Tensor& cell) const override;
};

// The long short-term memory.
class Lstm : public Recurrent {
 public:
  explicit Lstm(int64_t dim, const LinearOptions& options = {});

 private:
  Tensor step(const Gates& wx, const Gates& uh, const Tensor& h, Tensor& cell) const override;
};

}  // namespace heed::inline HEED_REAL
