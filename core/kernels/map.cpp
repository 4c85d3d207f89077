#include "core/kernels/map.h"

namespace heed::inline HEED_REAL::kernels {

BroadcastRows::BroadcastRows(const Shape& whole, std::initializer_list<const Shape*> operands) {
  std::array<int64_t, max_operands>
      step{};  // the stride of each operand's next axis, if it is not broadcast
  step.fill(1);
  axes_ = 0;
  for (int a = 1; a <= whole.rank(); ++a) {
    Axis next{whole[-a], {}};
    bool merges = axes_ > 0;  // the next axis continues the last one
    size_t k = 0;
    for (const Shape* shape : operands) {
      const int64_t own = a <= shape->rank() ? (*shape)[-a] : 1;
      next.stride[k] = own == 1 ? 0 : step[k];
      step[k] *= own;
      merges = merges && next.stride[k] == axis_[axes_ - 1].stride[k] * axis_[axes_ - 1].length;
      ++k;
    }
    if (next.length == 1) continue;
    if (merges)
      axis_[axes_ - 1].length *= next.length;
    else
      axis_[axes_++] = next;
  }
  if (axes_ == 0) axes_ = 1;  // a single element
  rows_ = whole.size() / width();
}

}  // namespace heed::inline HEED_REAL::kernels
