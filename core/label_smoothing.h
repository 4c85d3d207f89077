// Label smoothing: a part ε of the target's probability is given to the other classes.
#pragma once

#include <cstdint>

#include "core/real.h"

namespace heed::inline HEED_REAL {

// How ε is distributed over V classes. The idea is from Szegedy et al. (2016), section 7;
// implementations differ in the details.
enum class Smoothing {
  vocabulary,       // p(target) = 1 - ε + ε/V, every other class ε/V: the paper and PyTorch
  others,           // p(target) = 1 - ε, every other class ε/(V-1): tensor2tensor and fairseq
  possible_others,  // p(target) = 1 - ε, every other class ε/(V-2), but 0 for one class that is
                    // never a target (padding): The Annotated Transformer
};
struct LabelSmoothing {
  double epsilon;
  Smoothing over;
  int32_t impossible;  // the class that is never a target, for possible_others

  LabelSmoothing(double epsilon_ = 0, Smoothing over_ = Smoothing::vocabulary,
                 int32_t impossible_ = -1)
      : epsilon(epsilon_), over(over_), impossible(impossible_) {}
};

}  // namespace heed::inline HEED_REAL
