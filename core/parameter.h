// A tensor with a name. nn creates parameters as a vector of these; optim trains them, and
// checkpoints save and load them. The state of an optimizer is such a vector too.
#pragma once

#include <string>

#include "core/tensor.h"

namespace heed::inline HEED_REAL {

struct NamedParameter {
  std::string name;  // as in a checkpoint: encoder.layers.0.attention.query.weight
  Tensor tensor;
};

}  // namespace heed::inline HEED_REAL
