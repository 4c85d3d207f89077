#include "apps/support/machine.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace heed {
namespace {

// The first value that /proc/cpuinfo gives for a key; "" if there is none.
std::string cpuinfo(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon != line.npos && line.starts_with(key) && colon + 2 <= line.size())
      return line.substr(colon + 2);
  }
  return "";
}

}  // namespace

std::string processor_name() {
  const std::string name = cpuinfo("model name");
  return name.empty() ? "unknown processor" : name;
}

std::vector<std::string> processor_features() {
  const std::vector<std::string> known = {"avx2",        "fma",      "f16c",
                                          "avx512f",     "avx512bw", "avx512vl",
                                          "avx512_bf16", "amx_tile", "amx_bf16"};
  std::istringstream flags(cpuinfo("flags"));
  std::vector<std::string> features;
  for (std::string flag; flags >> flag;)
    if (std::find(known.begin(), known.end(), flag) != known.end()) features.push_back(flag);
  return features;
}

const char* precision_name(Precision precision) {
  constexpr const char* names[] = {"highest", "high", "medium"};
  return names[static_cast<int>(precision)];
}

std::vector<std::string> available_precisions() {
  std::vector<std::string> names;
  for (const Precision precision : {Precision::highest, Precision::high, Precision::medium})
    if (effective_precision(precision) == precision) names.emplace_back(precision_name(precision));
  return names;
}

}  // namespace heed
