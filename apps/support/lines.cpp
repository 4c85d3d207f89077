#include "apps/support/lines.h"

#include <algorithm>

namespace heed {

std::vector<std::string> text_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t first = 0; first < text.size();) {
    const size_t end = std::min(text.find('\n', first), text.size());
    lines.push_back(text.substr(first, end - first));
    first = end + 1;
  }
  return lines;
}

}  // namespace heed
