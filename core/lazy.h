// A value that const functions compute when they first need it, such as a table of positions.
#pragma once

#include <atomic>
#include <utility>

#include "core/real.h"
#include "core/scope.h"

namespace heed::inline HEED_REAL {

// Keeps the latest value that was computed. Any number of threads may call get() at once. T is a
// handle, cheap to copy and false if it is empty.
template <class T>
class Lazy {
 public:
  // Returns the kept value if fits(value), or else keeps and returns compute(). Two threads that
  // find none compute one each. A value that was computed in a scope with shapes_only, and has no
  // elements, fits only in such a scope.
  template <class Fits, class Compute>
  T get(Fits&& fits, Compute&& compute) const {
    const bool shapes_only = scope().shapes_only;
    {
      const Lock lock(locked_);
      if (value_ && shapes_only_ == shapes_only && fits(value_)) return value_;
    }
    T value = compute();
    T replaced = value;  // destroyed after the lock
    const Lock lock(locked_);
    std::swap(value_, replaced);
    shapes_only_ = shapes_only;
    return value;
  }

 private:
  // Excludes other threads while a handle is copied: a byte, where std::mutex has 40.
  class Lock {
   public:
    explicit Lock(std::atomic_flag& flag) : flag_(flag) {
      while (flag_.test_and_set(std::memory_order_acquire)) flag_.wait(true);
    }
    ~Lock() {
      flag_.clear(std::memory_order_release);
      flag_.notify_one();
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    std::atomic_flag& flag_;
  };

  mutable std::atomic_flag locked_;
  mutable bool shapes_only_ = false;
  mutable T value_;
};

}  // namespace heed::inline HEED_REAL
