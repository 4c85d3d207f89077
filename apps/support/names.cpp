#include "apps/support/names.h"

#include <algorithm>
#include <cstring>
#include <fnmatch.h>

namespace heed {

bool matches_any(const std::string& name, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  });
}

std::string without_group(const std::string& score) {
  return score.ends_with(']') ? score.substr(0, score.find('[')) : score;
}

std::string layer_of(const std::string& name) {
  const bool in_stack = name.starts_with("encoder.") || name.starts_with("decoder.");
  int components = 1;
  if (in_stack) components = name.find(".layers.") == name.npos ? 2 : 4;
  size_t end = name.find('.');
  while (--components > 0 && end != name.npos) end = name.find('.', end + 1);
  return name.substr(0, end);
}

bool comes_before(const std::string& a, const std::string& b) {
  return ::strverscmp(a.c_str(), b.c_str()) < 0;
}

}  // namespace heed
