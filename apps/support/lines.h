// Reads the lines of a file or of standard input as they arrive, and splits a text into lines.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/descriptor.h"

namespace heed {

class LineReader {
 public:
  static constexpr size_t max_line = 1 << 20;  // bytes

  // "-" is standard input. Throws InputError if the file cannot be opened.
  explicit LineReader(const std::string& path);

  // How errors name it: the path, or "standard input".
  const std::string& name() const { return name_; }

  // Waits for the next line and stores it without \n or \r\n. Of a line of more than max_line
  // bytes, stores max_line + 1 and drops the rest. Returns false at the end. Throws InputError if
  // it cannot read.
  bool next(std::string& line);
  // Returns whether next() would not wait.
  bool is_ready();

 private:
  bool fill();

  std::string name_;
  Descriptor file_;
  bool ended_ = false;
  std::string buffer_;  // read, from start_ on not returned
  size_t start_ = 0;
};

// Returns the lines of a text, without their ends.
std::vector<std::string> text_lines(const std::string& text);

}  // namespace heed
