#include "apps/support/output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>

#include "apps/support/colour.h"
#include "core/check.h"
#include "core/text.h"

namespace heed {

void print(std::string_view text) {
  static const bool terminal = is_terminal(STDOUT_FILENO);
  const std::string shown = terminal ? escaped(text) : std::string();
  print_escaped(terminal ? shown : text);
}

namespace {

int write_error = 0;  // the first errno of a write to standard output

// fwrite() writes, too, when the buffer is full.
void note_error(bool written) {
  if (!written && write_error == 0) write_error = errno;
}

}  // namespace

void print_escaped(std::string_view text) {
  note_error(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

void flush_output() {
  note_error(std::fflush(stdout) == 0);
  if (write_error == EPIPE) throw OutputClosed();
  // The error of an earlier flush stays in ferror().
  check(write_error == 0 && std::ferror(stdout) == 0,
        "standard output: cannot write: {}; is the disk full?", std::strerror(write_error));
}

}  // namespace heed
