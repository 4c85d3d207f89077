// Temporary memory of a kernel.
#pragma once

#include <cstdint>

#include "core/memory.h"

namespace heed::inline HEED_REAL::kernels {

// Holds `count` elements, contents undefined, for as long as it lives. Create it outside parallel
// loops, whose bodies must not throw.
class Scratch {
 public:
  explicit Scratch(int64_t count)
      : data_(static_cast<real*>(pool_allocate(static_cast<size_t>(count) * sizeof(real)))) {}
  ~Scratch() { pool_free(data_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  real* data() const { return data_; }

 private:
  real* data_;
};

}  // namespace heed::inline HEED_REAL::kernels
