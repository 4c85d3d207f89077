#pragma once

#include <chrono>
#include <string>
#include <time.h>

namespace heed {

// Returns the seconds since a fixed moment, by a clock that is never adjusted.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline constexpr const char* iso_time = "%Y-%m-%dT%H:%M:%SZ";

// Returns a time, by default that of now, in UTC and in a format of strftime().
inline std::string utc_time(const char* format, time_t time = ::time(nullptr)) {
  struct tm utc {};
  ::gmtime_r(&time, &utc);
  char text[32];
  return {text, ::strftime(text, sizeof text, format, &utc)};
}

}  // namespace heed
