// Counts the FLOPs of a computation, also without computing it: in a scope with shapes_only the
// same operations run, with the same allocations and the same number of multiplications, but no
// value is computed and no memory touched.
//
//   FlopCounter counter;
//   {
//     ScopeGuard here;
//     here->shapes_only = true;
//     const ObserverScope observed(counter);
//     backward(model.loss(inputs, targets));
//   }
//   counter.flops();
#pragma once

#include "core/observer.h"

namespace heed::inline HEED_REAL {

// Counts the FLOPs of matrix products: 2 m n k for (m, k) · (k, n).
class FlopCounter final : public Observer {
 public:
  void reported(Work work, double amount) noexcept override {
    if (work == Work::multiplications) flops_ += 2 * amount;
  }
  double flops() const { return flops_; }  // counted so far

 private:
  double flops_ = 0;
};

}  // namespace heed::inline HEED_REAL
