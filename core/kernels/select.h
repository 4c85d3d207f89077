// Selection by a condition that broadcasts: 0 is false, every other value is true.
#pragma once

#include "core/kernels/arithmetic.h"
#include "core/mask.h"

namespace heed::inline HEED_REAL::kernels {

using Condition = Operand<int32_t>;

// to = a if the condition is true, else b; all broadcast to the shape `y`
void choose(const Shape& y, const Condition& condition, const RealOperand& a, const RealOperand& b,
            real* to);

// to = dy, of shape `y`, where the condition is false (`is_zero`) or true (not `is_zero`), else 0
void keep_where(const Shape& y, const Condition& condition, bool is_zero, const real* dy,
                Destination to);

// to = x if the mask lets the query attend to the key, else `hidden`; x (B, H, Tq, Tk)
void fill_hidden(const Shape& shape, const KeepMask& mask, const real* x, real hidden,
                 Destination to);

}  // namespace heed::inline HEED_REAL::kernels
