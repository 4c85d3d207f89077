// Choosing by a condition that broadcasts: 0 is no, everything else yes.
#pragma once

#include "core/kernels/arithmetic.h"
#include "core/mask.h"

namespace heed::inline HEED_REAL::kernels {

using Condition = Operand<int32_t>;

// a where the condition is not 0, else b; all broadcast to the shape `y`
void choose(const Shape& y, const Condition& condition, const Numbers& a, const Numbers& b,
            real* to);

// dy, of shape `y`, where the condition is (not) 0; zero elsewhere
void keep_where(const Shape& y, const Condition& condition, bool is_zero, const real* dy,
                Destination to);

// x where the mask lets a query see a key, `hidden` elsewhere; x (B, H, Tq, Tk)
void fill_hidden(const Shape& shape, const KeepMask& mask, const real* x, real hidden,
                 Destination to);

}  // namespace heed::inline HEED_REAL::kernels
