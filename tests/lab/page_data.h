// The facts that a page holds for its scripts.
#pragma once

#include <string>

#include "apps/support/json.h"

namespace heed {

inline Json data_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const size_t first = page.find(begin) + begin.size();
  return Json::parse(page.substr(first, page.find("</script>", first) - first), "page");
}

}  // namespace heed
