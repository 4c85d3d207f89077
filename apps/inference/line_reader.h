// Reads the lines of a file or of standard input as they arrive.
#pragma once

#include <cstddef>
#include <string>

#include "core/descriptor.h"
#include "data/tokens.h"

namespace heed {

// Reads a text as data are read (data/files.h).
class LineReader {
 public:
  static constexpr size_t max_line = 1 << 20;  // bytes

  // "-" is standard input. Throws InputError if the file cannot be opened.
  explicit LineReader(const std::string& path, Level level = Level::character);

  // How errors name it: the path, or "standard input".
  const std::string& name() const { return name_; }

  // Waits for the next line and stores it without \n or \r\n. Of a line of more than max_line
  // bytes, stores max_line + 1 and drops the rest. Returns false at the end. Throws InputError if
  // it cannot read, or if the file is not UTF-8 by its first bytes; at byte level it may be
  // anything.
  bool next(std::string& line);
  // Returns whether next() would not wait.
  bool is_ready();

 private:
  bool fill();   // reads more; returns whether there is any
  void begin();  // checks the first bytes, and skips a byte order mark

  std::string name_;
  Level level_;
  Descriptor file_;
  bool begun_ = false, ended_ = false;
  std::string buffer_;  // read, from start_ on not returned
  size_t start_ = 0;
};

}  // namespace heed
