#include "apps/support/output.h"

#include <cstdio>
#include <string>
#include <unistd.h>

#include "core/text.h"

namespace heed {

void print(std::string_view text) {
  static const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  const std::string shown = terminal ? escaped(text) : std::string();
  const std::string_view bytes = terminal ? shown : text;
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);
}

}  // namespace heed
