// Multi-head attention (Vaswani et al. 2017, section 3.2.2):
//   head h = softmax(Qₕ Kₕᵀ / √K) Vₕ,   output = [head 1; …; head H] Wᵒ
// with Q = x W^Q, K = c W^K, V = c W^V: self-attention where the context c is x, else
// cross-attention.
#pragma once

#include "core/mask.h"
#include "nn/linear.h"

namespace heed::inline HEED_REAL {

struct AttentionSetup {
  int64_t context_dim =
      0;                 // width of what keys and values are made from; 0: as wide as the queries'
  double dropout = 0;    // of the attention weights
  LinearOptions linear;  // how the matrices start; the output joins the residual stream
};

class MultiHeadAttention : public Module {
 public:
  // Throws Error unless heads divides dim.
  MultiHeadAttention(int64_t dim, int64_t heads, const AttentionSetup& setup = {});
  // x (B, Tq, D), context (B, Tk, Dc) → (B, Tq, D)
  Tensor operator()(const Tensor& x, const Tensor& context, const KeepMask& mask) const;

 private:
  Linear query_, key_, value_, output_;
  int64_t heads_;
  double dropout_;
};

}  // namespace heed::inline HEED_REAL
