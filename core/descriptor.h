// Open files, and writing to them.
#pragma once

#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "core/real.h"

namespace heed::inline HEED_REAL {

// Holds what open() returned, -1 if it failed, and closes it. Clients do not need it.
class Descriptor {
 public:
  explicit Descriptor(int file) : file_(file) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  explicit operator bool() const { return file_ >= 0; }
  operator int() const { return file_; }
  int release() { return std::exchange(file_, -1); }  // the caller closes it
  bool close() {                                      // returns false if a write failed
    const int file = std::exchange(file_, -1);
    return file < 0 || ::close(file) == 0;
  }

 private:
  int file_;
};

// Writes all of it. Throws Error that names the path.
void write_all(int file, std::string_view contents, const std::string& path);

// Throws Error: the path, what cannot be done there ("write"), the cause, given as errno, and what
// to do.
[[noreturn]] void cannot(const char* verb, const std::string& path, int code);

}  // namespace heed::inline HEED_REAL
