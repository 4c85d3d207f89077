// Sums, differences, products and quotients of arrays that broadcast to the shape `y`, and the
// gradients that are not one of these.
#pragma once

#include "core/kernels/map.h"

namespace heed::inline HEED_REAL::kernels {

using Numbers = Operand<real>;

void add(const Shape& y, const Numbers& a, const Numbers& b, Destination to);  // a + b
void sub(const Shape& y, const Numbers& a, const Numbers& b, Destination to);  // a - b
void mul(const Shape& y, const Numbers& a, const Numbers& b, Destination to);  // a · b
void div(const Shape& y, const Numbers& a, const Numbers& b, Destination to);  // a / b
// 1 where a = b, else 0
void equal(const Shape& y, const Numbers& a, const Numbers& b, real* to);
// -dy · y / b, the gradient of y = a / b for b; dy and y of y's shape
void div_backward_divisor(const Shape& shape, const real* dy, const real* y, const Numbers& b,
                          Destination db);
void add(int64_t n, const real* x, real term, Destination to);      // x + term
void scale(int64_t n, const real* x, real factor, Destination to);  // factor · x
// to = x, repeated to the shape `y` and times `factor`
void spread(const Shape& y, const Numbers& x, real factor, Destination to);

}  // namespace heed::inline HEED_REAL::kernels
