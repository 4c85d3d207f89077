#include "core/system_memory.h"

#include <algorithm>
#include <limits>
#include <sys/mman.h>
#include <utility>

#include "core/check.h"

#if defined(__linux__) && !defined(HEED_PLAIN_SYSTEM)
#include <cstdint>
#include <fstream>
#include <mutex>
#include <unistd.h>
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

char* map_pages(size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

size_t rounded_up(size_t n, size_t multiple) { return (n + multiple - 1) / multiple * multiple; }

constexpr size_t huge_page = size_t{2} << 20;

// Maps `bytes` from a boundary of huge pages on.
char* map_huge_pages(size_t bytes) {
  char* const memory = map_pages(bytes + huge_page);
  if (!memory) return nullptr;
  const size_t before = -reinterpret_cast<uintptr_t>(memory) % huge_page;
  if (before > 0) munmap(memory, before);
  munmap(memory + before + bytes, huge_page - before);
  madvise(memory + before, bytes, MADV_HUGEPAGE);
  return memory + before;
}

// Blocks side by side in one mapping, so that a huge page can hold the end of one block and the
// beginning of the next. A mapping for each would begin and end in small pages.
class Region {
 public:
  // Returns null if the system refuses.
  char* take(size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes > left_) {
      next_ = map_huge_pages(size);
      left_ = next_ ? size : 0;
      if (!next_) return nullptr;
    }
    left_ -= bytes;
    return std::exchange(next_, next_ + bytes);
  }

  static constexpr size_t size = size_t{256} << 20;

 private:
  std::mutex mutex_;
  char* next_ = nullptr;
  size_t left_ = 0;
};
constinit Region region;

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
  if (pages == Pages::huge) {
    static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t whole = rounded_up(bytes, page);
    char* const memory = whole > Region::size / 2 ? map_huge_pages(whole) : region.take(whole);
    if (memory) return memory;
  }
  char* const memory = map_pages(bytes);
  if (memory) madvise(memory, bytes, MADV_NOHUGEPAGE);
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
