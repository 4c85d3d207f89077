// A tensor with a name: all that those who make parameters (nn) and those who train, save or load
// them share. A model is a vector of these; so is the state of an optimizer.
#pragma once

#include <string>

#include "core/tensor.h"

namespace heed::inline HEED_REAL {

struct NamedParameter {
  std::string name;  // as in a checkpoint: encoder.layers.0.attention.query.weight
  Tensor tensor;
};

}  // namespace heed::inline HEED_REAL
