// Gradients of a module, or of anything else that ends in one number, against central differences.
#pragma once

#include <functional>
#include <vector>

#include "core/tensor.h"

namespace heed::inline HEED_REAL::testing {

// Holds ∂loss/∂x against differences of loss(x ± h) and loss(x ± 2h), for every element of every
// tensor in `with_respect_to`; reports to doctest. `loss` must be the same function of them every
// time. Only double precision is exact enough: in float it is only run
// once.
void check_gradients(const std::vector<NamedParameter>& with_respect_to,
                     const std::function<Tensor()>& loss);

}  // namespace heed::inline HEED_REAL::testing
