// What the C++ blocks of a page of the course may use, and what runs them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "core/pool.h"
#include "core/print.h"
#include "course/plot.h"
#include "heed.h"

using namespace heed;

namespace heed::course {

// Runs the blocks of a page. Given a folder, what the block of line N prints goes to its file N;
// else it is all printed.
inline int run_page(const char* page, const char* folder, void (*blocks)(void (*begin)(int line))) {
  static int line;
  static const char* outputs;
  outputs = folder;
  try {
    blocks([](int at) {
      line = at;
      const std::string output = fmt::format("{}/{}", outputs ? outputs : "", at);
      check(!outputs || std::freopen(output.c_str(), "w", stdout), "cannot write {}", output);
    });
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}:{}: this block fails: {}\n", page, line, error.what());
    return 1;
  }
  return 0;
}

}  // namespace heed::course
