// What the C++ blocks of a page of the course may use.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "core/pool.h"
#include "core/print.h"
#include "course/plot.h"
#include "heed.h"

using namespace heed;

namespace heed::course {

// The C++ blocks of a page, which call begin(line) one after another. main.cpp runs those of one
// page.
struct Page {
  std::string path;
  void (*blocks)(void (*begin)(int line));
  uint32_t checksum;  // of the blocks, by run.sh
};

// All pages by the names of their files, without ".md": each adds itself before main() begins.
inline std::map<std::string, Page>& pages() {
  static std::map<std::string, Page> all;
  return all;
}

}  // namespace heed::course
