#pragma once

#include <chrono>

namespace heed {

// Seconds since some moment in the past, by a clock that is never set.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace heed
