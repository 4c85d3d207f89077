// Adam (Kingma and Ba 2015, algorithm 1), with weight decay inside the gradient (adam) or apart
// from it (adamw; Loshchilov and Hutter 2019, algorithm 2); amsgrad after Reddi et al. 2018. In
// step t:
//
//   g = gradient + weight_decay · w      adam    |   g = gradient      adamw
//                                                |   w ← w − lr · weight_decay · w
//   m ← β₁ m + (1 − β₁) g                exp_avg: mean of gradients
//   v ← β₂ v + (1 − β₂) g²               exp_avg_sq: mean of squared gradients
//   w ← w − lr · m/(1 − β₁ᵗ) / (√(v/(1 − β₂ᵗ)) + ε)
//
// Amsgrad has, in place of v in the last line, the largest v so far (max_exp_avg_sq).
#pragma once

#include "optim/optimizer.h"

namespace heed::inline HEED_REAL {

class Adam : public Optimizer {
 public:
  Adam(const OptimOptions& options, std::vector<NamedParameter> parameters);

 private:
  void update(double lr, double scale) override;
  real* exp_avg_;
  real* exp_avg_sq_;
  real* max_exp_avg_sq_ = nullptr;  // amsgrad alone
};

}  // namespace heed::inline HEED_REAL
