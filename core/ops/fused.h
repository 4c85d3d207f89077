// Operations with two definitions; a build links one of them. core/reference says what each means,
// by other operations or by a plain loop. A fast build computes it in one pass, with a gradient of
// its own. The arguments have been checked.
#pragma once

#include "core/standard_ops.h"

namespace heed::inline HEED_REAL::fused {

Tensor activate(Activation function, const Tensor& x);
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b, Activation activation);
Tensor linear_cross_entropy(const Tensor& x, const Tensor& w, const Tensor& b, const Ids& targets,
                            Reduction reduction, const LabelSmoothing& smoothing, int64_t at_once);

}  // namespace heed::inline HEED_REAL::fused
