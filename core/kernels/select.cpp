#include "core/kernels/select.h"

namespace heed::inline HEED_REAL::kernels {

void choose(const Shape& y, const Condition& condition, const Numbers& a, const Numbers& b,
            real* to) {
  map_broadcast(
      y, {to, false}, [](int32_t c, real p, real q) { return c != 0 ? p : q; }, condition, a, b);
}

void keep_where(const Shape& y, const Condition& condition, bool is_zero, const real* dy,
                Destination to) {
  map_broadcast(
      y, to, [=](int32_t c, real d) { return (c == 0) == is_zero ? d : real{0}; }, condition,
      Numbers{dy, y});
}

}  // namespace heed::inline HEED_REAL::kernels
