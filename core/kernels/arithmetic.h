// Elementwise sums, differences, products and quotients of arrays that broadcast to the shape `y`,
// and gradients that are none of these.
#pragma once

#include "core/kernels/map.h"

namespace heed::inline HEED_REAL::kernels {

using RealOperand = Operand<real>;

void add(const Shape& y, const RealOperand& a, const RealOperand& b, Destination to);  // a + b
void sub(const Shape& y, const RealOperand& a, const RealOperand& b, Destination to);  // a - b
void mul(const Shape& y, const RealOperand& a, const RealOperand& b, Destination to);  // a · b
void div(const Shape& y, const RealOperand& a, const RealOperand& b, Destination to);  // a / b
// 1 if a = b, else 0
void equal(const Shape& y, const RealOperand& a, const RealOperand& b, real* to);
// db = -dy · y / b, the gradient of y = a / b for b; dy and y have the shape `shape`
void div_backward_divisor(const Shape& shape, const real* dy, const real* y, const RealOperand& b,
                          Destination db);
void add(int64_t n, const real* x, real term, Destination to);      // x + term
void scale(int64_t n, const real* x, real factor, Destination to);  // factor · x
// to = factor · x, with x broadcast to the shape `y`
void spread(const Shape& y, const RealOperand& x, real factor, Destination to);

}  // namespace heed::inline HEED_REAL::kernels
