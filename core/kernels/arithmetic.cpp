#include "core/kernels/arithmetic.h"

namespace heed::inline HEED_REAL::kernels {

void add(const Shape& y, const RealOperand& a, const RealOperand& b, Destination to) {
  map_broadcast(
      y, to, [](real p, real q) { return p + q; }, a, b);
}

void sub(const Shape& y, const RealOperand& a, const RealOperand& b, Destination to) {
  map_broadcast(
      y, to, [](real p, real q) { return p - q; }, a, b);
}

void mul(const Shape& y, const RealOperand& a, const RealOperand& b, Destination to) {
  map_broadcast(
      y, to, [](real p, real q) { return p * q; }, a, b);
}

void div(const Shape& y, const RealOperand& a, const RealOperand& b, Destination to) {
  map_broadcast(
      y, to, [](real p, real q) { return p / q; }, a, b);
}

void equal(const Shape& y, const RealOperand& a, const RealOperand& b, real* to) {
  map_broadcast(
      y, {to, false}, [](real p, real q) { return p == q ? real{1} : real{0}; }, a, b);
}

void div_backward_divisor(const Shape& shape, const real* dy, const real* y, const RealOperand& b,
                          Destination db) {
  map_broadcast(
      shape, db, [](real g, real quotient, real divisor) { return -g * quotient / divisor; },
      RealOperand{dy, shape}, RealOperand{y, shape}, b);
}

void add(int64_t n, const real* x, real term, Destination to) {
  map(n, to, [=](int64_t i) { return x[i] + term; });
}

void scale(int64_t n, const real* x, real factor, Destination to) {
  map(n, to, [=](int64_t i) { return factor * x[i]; });
}

void spread(const Shape& y, const RealOperand& x, real factor, Destination to) {
  map_broadcast(
      y, to, [=](real p) { return factor * p; }, x);
}

}  // namespace heed::inline HEED_REAL::kernels
