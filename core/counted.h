// Counted handles. The count is not atomic, because a handle belongs to one thread.
#pragma once

#include <cstdint>
#include <utility>

#include "core/real.h"

namespace heed::inline HEED_REAL {

// The base of counted objects. A derived type T defines `static void destroy(T*)`.
struct Counted {
  uint32_t references = 0;
};

template <class T>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T* object) : object_(object) {
    if (object_) ++object_->references;
  }
  Handle(const Handle& other) : Handle(other.object_) {}
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() {
    if (object_ && --object_->references == 0) T::destroy(object_);
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool operator==(const Handle& other) const = default;
  // Empties the handle without changing the count.
  T* release() { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
};

}  // namespace heed::inline HEED_REAL
