#include "apps/support/machine.h"

#include <climits>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include "core/check.h"
#include "core/precision.h"

namespace heed {
namespace {

// Returns the first value of a key in a file with lines "key: value", or "".
std::string value_in(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':'), value = line.find_first_not_of(" \t", colon + 1);
    if (colon != line.npos && value != line.npos && line.starts_with(key))
      return line.substr(value);
  }
  return "";
}

}  // namespace

std::string processor_name() {
  const std::string name = value_in("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown processor" : name;
}

std::vector<std::string> processor_features() {
  const std::vector<std::string> known = {"avx2",        "fma",      "f16c",
                                          "avx512f",     "avx512bw", "avx512vl",
                                          "avx512_bf16", "amx_tile", "amx_bf16"};
  std::istringstream flags(value_in("/proc/cpuinfo", "flags"));
  std::vector<std::string> features;
  for (std::string flag; flags >> flag;)
    if (std::find(known.begin(), known.end(), flag) != known.end()) features.push_back(flag);
  return features;
}

const char* precision_name(Precision precision) { return name_of(precision_names, precision); }

std::vector<std::string> available_precisions() {
  std::vector<std::string> names;
  for (const auto& [name, precision] : precision_names)
    if (effective_precision(precision) == precision) names.emplace_back(name);
  return names;
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
  return arguments;
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = "";
  check(::gethostname(name, sizeof name) == 0, "this machine has no name: {}",
        std::strerror(errno));
  return name;
}

std::string program_path() {
  char path[PATH_MAX] = {};
  check(::readlink("/proc/self/exe", path, sizeof path - 1) > 0, "/proc/self/exe: {}",
        std::strerror(errno));
  return path;
}

}  // namespace heed
