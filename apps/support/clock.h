#pragma once

#include <chrono>

namespace heed {

// Returns the seconds since a fixed moment, by a clock that is never adjusted.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace heed
