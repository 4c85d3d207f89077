#pragma once

#include <chrono>
#include <string>
#include <time.h>

namespace heed {

// Returns the seconds since a fixed moment, by a clock that is never adjusted.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns the time of day in UTC, in a format of strftime().
inline std::string utc_time(const char* format) {
  const time_t now = ::time(nullptr);
  struct tm utc {};
  ::gmtime_r(&now, &utc);
  char text[32];
  return {text, ::strftime(text, sizeof text, format, &utc)};
}

}  // namespace heed
