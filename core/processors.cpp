#include "core/processors.h"

#include <climits>

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace heed::inline HEED_REAL {

int requested_threads() {
  const char* const text = std::getenv("OMP_NUM_THREADS");
  const long count = text ? std::strtol(text, nullptr, 10) : 0;
  return 1 <= count && count <= INT_MAX ? static_cast<int>(count) : 0;
}

}  // namespace heed::inline HEED_REAL

#if defined(__linux__) && !defined(HEED_PLAIN_SYSTEM)

#include <fmt/format.h>

#include <fstream>
#include <sched.h>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

#ifndef HEED_STD_THREADS
#include <omp.h>
#endif

namespace heed::inline HEED_REAL {
namespace {

cpu_set_t processors_of_thread() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof(allowed), &allowed);
  return allowed;
}

// The processors of OMP_PROC_BIND or OMP_PLACES; without them, those this thread may use.
cpu_set_t allowed_processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
#ifndef HEED_STD_THREADS
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> processors(static_cast<size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, processors.data());
    for (const int processor : processors)
      if (processor >= 0 && processor < CPU_SETSIZE) CPU_SET(processor, &allowed);
  }
#endif
  return CPU_COUNT(&allowed) == 0 ? processors_of_thread() : allowed;
}

}  // namespace

int physical_cores() {
  const cpu_set_t allowed = allowed_processors();
  std::set<std::string> cores;  // hyper-threads of one core have the same list of siblings
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    std::ifstream file(
        fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
    std::string siblings;
    if (!std::getline(file, siblings)) siblings = std::to_string(cpu);
    cores.insert(siblings);
  }
  return std::max(1, static_cast<int>(cores.size()));
}

bool is_bound() {
  const cpu_set_t allowed = processors_of_thread();
  return CPU_COUNT(&allowed) != sysconf(_SC_NPROCESSORS_ONLN);
}

void untie_thread() {
  const cpu_set_t allowed = allowed_processors();
  sched_setaffinity(0, sizeof(allowed), &allowed);
}

}  // namespace heed::inline HEED_REAL

#else

namespace heed::inline HEED_REAL {

int physical_cores() {
#ifdef __EMSCRIPTEN__
  return 1;  // it has threads only if it is compiled for them
#else
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#endif
}

bool is_bound() { return false; }

void untie_thread() {}

}  // namespace heed::inline HEED_REAL

#endif
