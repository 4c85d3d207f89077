// A value that const functions compute when they first need it, such as a table of positions.
#pragma once

#include <mutex>

#include "core/scope.h"

namespace heed::inline HEED_REAL {

// Keeps the latest value that was computed. Any number of threads may call get() at once. T is a
// handle, cheap to copy and false if it is empty. Clients do not need it.
template <class T>
class Lazy {
 public:
  // Returns the kept value if fits(value), or else keeps and returns compute(). A value that was
  // computed in a scope with shapes_only, and has no elements, fits only in such a scope.
  template <class Fits, class Compute>
  T get(Fits fits, Compute compute) const {
    const std::lock_guard lock(mutex_);
    if (!value_ || shapes_only_ != scope().shapes_only || !fits(value_)) {
      value_ = compute();
      shapes_only_ = scope().shapes_only;
    }
    return value_;
  }

 private:
  mutable std::mutex mutex_;
  mutable bool shapes_only_ = false;
  mutable T value_;
};

}  // namespace heed::inline HEED_REAL
