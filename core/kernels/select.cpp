#include "core/kernels/select.h"

namespace heed::inline HEED_REAL::kernels {

void choose(const Shape& y, const Condition& condition, const RealOperand& a, const RealOperand& b,
            real* to) {
  map_broadcast(
      y, {to, false}, [](int32_t c, real p, real q) { return c != 0 ? p : q; }, condition, a, b);
}

void keep_where(const Shape& y, const Condition& condition, bool is_zero, const real* dy,
                Destination to) {
  map_broadcast(
      y, to, [=](int32_t c, real d) { return (c == 0) == is_zero ? d : real{0}; }, condition,
      RealOperand{dy, y});
}

void fill_hidden(const Shape& shape, const KeepMask& mask, const real* x, real hidden,
                 Destination to) {
  const int64_t heads = shape[1], queries = shape[2], keys = shape[3];
  for_each_row(shape[0] * heads * queries, keys, [&](int64_t row) {
    const int64_t i = row % queries, h = row / queries % heads, b = row / queries / heads;
    const KeepMask::KeyRange visible = mask.keys_for(b, i, queries, keys);
    const int32_t* dense = mask.dense_row(b, h, i);
    const real* from = x + row * keys;
    const Destination out{to.data + row * keys, to.accumulate};
    const auto fill = [hidden](int64_t) { return hidden; };
    map_range(0, visible.first, out, fill);
    map_range(visible.last, keys, out, fill);
    if (dense)
      map_range(visible.first, visible.last, out,
                [=](int64_t j) { return dense[j] != 0 ? from[j] : hidden; });
    else
      map_range(visible.first, visible.last, out, [=](int64_t j) { return from[j]; });
  });
}

}  // namespace heed::inline HEED_REAL::kernels
