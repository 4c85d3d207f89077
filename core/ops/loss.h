// Cross entropy: how surprised the model is by the right tokens, -log of their probabilities. This
// header has what its two definitions share.
#pragma once

#include "core/kernels/kernels.h"
#include "core/standard_ops.h"

namespace heed::inline HEED_REAL::detail {

// The distribution p over the classes that a smoothed target stands for. Throws Error, with the
// operation's name, for a smoothing that these classes do not permit.
kernels::TargetDistribution target_distribution(const char* name, const LabelSmoothing& smoothing,
                                                int64_t classes);

// Returns the divisor of the sum over all targets: for a mean, how many are not ignored.
real divisor(Reduction reduction, const Ids& targets);

}  // namespace heed::inline HEED_REAL::detail
