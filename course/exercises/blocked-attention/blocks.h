// What the exercise blocked-attention is given: keys and values, block by block.
#pragma once

#include <functional>

#include "core/tensor.h"

namespace heed::course {

// Sets k (n, K) and v (n, V) to the next block and returns true; false if there is none left.
using NextBlock = std::function<bool(Tensor& k, Tensor& v)>;

}  // namespace heed::course
