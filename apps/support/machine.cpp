#include "apps/support/machine.h"

#include <climits>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include "core/check.h"
#include "core/precision.h"

namespace heed {

const char* precision_name(Precision precision) { return name_of(precision_names, precision); }

std::vector<std::string> available_precisions() {
  std::vector<std::string> names;
  for (const auto& [name, precision] : precision_names)
    if (effective_precision(precision) == precision) names.emplace_back(name);
  return names;
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::string host_name() {
  std::array<char, 256> name{};
  const bool has_name = ::gethostname(name.data(), name.size() - 1) == 0;
  check(has_name, "this machine has no name: {}", std::strerror(errno));
  return name.data();
}

namespace {

struct UsedProgram {
  std::string path;
  std::vector<std::string> words;
};
thread_local UsedProgram used_program;

}  // namespace

void use_program(const std::string& path, const std::vector<std::string>& words) {
  used_program = {path, words};
}

#if defined(__linux__) && !defined(HEED_PLAIN_SYSTEM)

// Returns the first value of a key in a file with lines "key: value", or "".
static std::string value_in(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':'), value = line.find_first_not_of(" \t", colon + 1);
    if (colon != line.npos && value != line.npos && line.starts_with(key))
      return line.substr(value);
  }
  return "";
}

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

std::vector<std::string> command_line() {
  if (!used_program.words.empty()) return used_program.words;
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
  return arguments;
}

void keep_command_line(int, char**) {}

std::string program_path() {
  if (!used_program.path.empty()) return used_program.path;
  char path[PATH_MAX] = {};
  const bool is_read = ::readlink("/proc/self/exe", path, sizeof path - 1) > 0;
  check(is_read, "/proc/self/exe: {}", std::strerror(errno));
  return path;
}

std::string running_program() {
  return used_program.path.empty() ? "/proc/self/exe" : used_program.path;
}

#else

static std::vector<std::string>& kept_command_line() {
  static std::vector<std::string> arguments;
  return arguments;
}

std::string processor_name() { return "unknown processor"; }

std::vector<std::string> processor_features() { return {}; }

std::vector<std::string> command_line() {
  return used_program.words.empty() ? kept_command_line() : used_program.words;
}

void keep_command_line(int argc, char** argv) {
  kept_command_line() = std::vector<std::string>(argv, argv + argc);
}

// As a shell finds it: a name without a slash is looked for in the folders of PATH.
std::string program_path() {
  if (!used_program.path.empty()) return used_program.path;
  check(!kept_command_line().empty(), "this system does not say where the program is");
  const std::string& name = kept_command_line()[0];
  std::string found = name;
  if (name.find('/') == name.npos) {
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
      found = (folder.empty() ? "." : folder) + "/" + name;
      if (::access(found.c_str(), X_OK) == 0) break;
    }
  }
  char resolved[PATH_MAX];
  const bool is_found = ::realpath(found.c_str(), resolved) != nullptr;
  check(is_found, "{}: {}", found, std::strerror(errno));
  return resolved;
}

std::string running_program() { return program_path(); }

#endif

}  // namespace heed
