#include "core/system_memory.h"

#include <algorithm>
#include <limits>
#include <sys/mman.h>

#include "core/check.h"

#if defined(__linux__) && !defined(HEED_PLAIN_SYSTEM)
#include <fstream>
#else
#include <sys/resource.h>
#endif

namespace heed::inline HEED_REAL {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

#if defined(__linux__) && !defined(HEED_PLAIN_SYSTEM)

// Returns the number that a file begins with, or infinity if there is none ("max" is none).
double number_in(const std::string& path) {
  double number;
  return std::ifstream(path) >> number ? number : infinity;
}

// Returns the number that follows a word in a file, or infinity if there is none.
double number_after(const std::string& word, const std::string& path) {
  std::ifstream file(path);
  for (std::string found; file >> found;) {
    double number;
    if (found == word) return file >> number ? number : infinity;
  }
  return infinity;
}

// The files of a control group: its limit, what it uses, and the word before the bytes of cached
// files that can be dropped, in memory.stat.
struct GroupFiles {
  const char *limit, *usage, *inactive;
};
constexpr GroupFiles version_2{"/memory.max", "/memory.current", "inactive_file"};
constexpr GroupFiles version_1{"/memory.limit_in_bytes", "/memory.usage_in_bytes",
                               "total_inactive_file"};

double left_in(const std::string& folder, const GroupFiles& files) {
  const double limit = number_in(folder + files.limit), usage = number_in(folder + files.usage);
  if (limit == infinity || usage == infinity) return limit;
  const double inactive = number_after(files.inactive, folder + "/memory.stat");
  const double used = std::max(0.0, usage - (inactive == infinity ? 0 : inactive));
  return std::max(0.0, limit - used);
}

// Returns what a control group, such as "/user/shell", and its parents have left. A group whose
// folder is not visible (inside a container) has no limit.
double least_left(const std::string& folder, std::string group, const GroupFiles& files) {
  double left = infinity;
  for (;; group.resize(group.rfind('/'))) {
    left = std::min(left, left_in(folder + group, files));
    if (group.find('/') == group.npos) return left;
  }
}

double memory_of_process(const char* word) {
  const double bytes = 1024 * number_after(word, "/proc/self/status");
  check(bytes < infinity, "/proc/self/status has no {}", word);
  return bytes;
}

}  // namespace

double available_memory(const std::string& root) {
  double available = 1024 * number_after("MemAvailable:", root + "/proc/meminfo");
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // "0::/a/b", or "4:memory:/a/b" in version 1.
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string controllers = line.substr(first, second + 1 - first);
    const std::string group = line.substr(second + 1);
    if (controllers == "::")
      available = std::min(available, least_left(root + "/sys/fs/cgroup", group, version_2));
    if (controllers == ":memory:")
      available = std::min(available, least_left(root + "/sys/fs/cgroup/memory", group, version_1));
  }
  return available;
}

double resident_memory() { return memory_of_process("VmRSS:"); }

double peak_resident_memory() { return memory_of_process("VmHWM:"); }

void* map_memory(size_t bytes, Pages pages) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, bytes, pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  return memory;
}

#else

}  // namespace

double available_memory(const std::string&) { return infinity; }

double resident_memory() { return peak_resident_memory(); }

double peak_resident_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return static_cast<double>(usage.ru_maxrss);
#else
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
#endif
}

void* map_memory(size_t bytes, Pages) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

#endif

void unmap_memory(void* memory, size_t bytes) noexcept { munmap(memory, bytes); }

}  // namespace heed::inline HEED_REAL
