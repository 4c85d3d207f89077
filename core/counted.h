// Counted handles: the last one to let go destroys the object.
//
// Unlike std::shared_ptr, the count is four bytes of the object itself, and T::destroy() decides
// where the memory goes and in which order a deep graph is destroyed.
//
// The counts are atomic. Any number of threads may copy, move and destroy handles to one object at
// once. One handle, as any variable, must not be changed by a thread while another thread uses it.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "core/real.h"

namespace heed::inline HEED_REAL {

// The base of counted objects. A derived type T defines `static void destroy(T*)`. A new object has
// one reference, which its first handle takes over. Clients do not need it.
class Counted {
 public:
  // Returns the number of references. The caller sees all that other threads wrote to the object
  // before they dropped theirs.
  uint32_t references() const { return references_.load(std::memory_order_acquire); }
  void add_reference() { references_.fetch_add(1, std::memory_order_relaxed); }
  // Returns whether this was the last reference. No other thread can copy the last one, so it needs
  // no atomic subtraction, which takes longer than a load.
  bool drop_reference() {
    return references() == 1 || references_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

 private:
  std::atomic<uint32_t> references_ = 1;
};

// Refers to a counted object. Clients do not need it: a Tensor holds its own.
template <class T>
class Handle {
 public:
  Handle() = default;
  // Takes over one reference to the object.
  explicit Handle(T* object) : object_(object) {}
  Handle(const Handle& other) : object_(other.object_) {
    if (object_) object_->add_reference();
  }
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() {
    if (object_ && object_->drop_reference()) T::destroy(object_);
  }

  T* get() const { return object_; }  // null: an empty handle
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool operator==(const Handle& other) const = default;
  // Empties the handle and returns the object with its reference.
  T* release() { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
};

}  // namespace heed::inline HEED_REAL
