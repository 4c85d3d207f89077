#include "apps/support/output.h"

#include <cstdio>
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

void print_escaped(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void flush_output() {
  // The error of an earlier flush stays in ferror().
  check(std::fflush(stdout) == 0 && std::ferror(stdout) == 0,
        "standard output: cannot write; is the disk full, or has its reader ended?");
}

}  // namespace heed
