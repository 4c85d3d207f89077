// The Optimizer of the minimal build, under another name.
#include "optim/five_steps.h"

#define Optimizer SeparateOptimizer
#include "../../optim/minimal/layout.cpp"
#include "../../optim/optimizer.cpp"
#undef Optimizer

namespace heed::inline HEED_REAL {

FiveSteps separate_five_steps(const OptimOptions& options) {
  return five_steps<SeparateOptimizer>(options);
}

}  // namespace heed::inline HEED_REAL
