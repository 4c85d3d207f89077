// Label smoothing: part of the probability of a target is given to other classes.
#pragma once

#include <cstdint>

#include "core/real.h"

namespace heed::inline HEED_REAL {

// What a smoothed label makes of the probability of its target, which would be 1, with V classes.
// Papers agree on the idea (Szegedy et al. 2016, section 7), programs not on the numbers.
enum class Smoothing {
  vocabulary,  // p(target) = 1 - ε + ε/V, every other class ε/V: the paper's, and PyTorch's
  others,      // p(target) = 1 - ε, every other class ε/(V-1): as tensor2tensor and fairseq do
  possible_others,  // p(target) = 1 - ε, every other class ε/(V-2), but one that is never a target
                    // (padding) 0: as The Annotated Transformer does
};
struct LabelSmoothing {
  double epsilon;
  Smoothing over;
  int32_t impossible;  // of possible_others: the class that is never a target

  LabelSmoothing(double share = 0, Smoothing whose = Smoothing::vocabulary, int32_t never = -1)
      : epsilon(share), over(whose), impossible(never) {}
};

}  // namespace heed::inline HEED_REAL
