#include "core/parallel.h"

#include <fstream>
#include <sched.h>
#include <set>
#include <string>
#include <vector>

#ifdef HEED_STD_THREADS
#include <thread>
#else
#include <omp.h>
#endif

#include "core/check.h"

namespace heed::inline HEED_REAL {

namespace {

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
  if (CPU_COUNT(&allowed) == 0) sched_getaffinity(0, sizeof(allowed), &allowed);
  return allowed;
}

}  // namespace

void untie_thread() {
  const cpu_set_t allowed = allowed_processors();
  sched_setaffinity(0, sizeof(allowed), &allowed);
}

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

namespace {
int& threads() {
  static int count = physical_cores();
  return count;
}
// The worker that this thread is in the parallel loop it runs; -1 outside any loop. Not in Scope,
// because it belongs to the thread: a ScopeGuard must not restore it.
constinit thread_local int worker = -1;
}  // namespace

int thread_count() { return threads(); }

void set_thread_count(int count) {
  check(count >= 1, "threads: at least 1, got {}", count);
  threads() = count;
}

int current_worker() { return std::max(0, worker); }

namespace detail {

void run_chunks(int64_t chunks, void (*run)(void*, int64_t), void* context) {
  const int count = static_cast<int>(std::min<int64_t>(threads(), chunks));
  if (count == 1 || worker >= 0) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) run(context, chunk);
    return;
  }
  const auto work = [=](int number, int workers) {
    worker = number;
    // Adjacent chunks go to one worker, whose cache holds what it wrote in the previous loop.
    const int64_t last = chunks * (number + 1) / workers;
    for (int64_t chunk = chunks * number / workers; chunk < last; ++chunk) run(context, chunk);
    worker = -1;
  };
#ifdef HEED_STD_THREADS
  std::vector<std::thread> others;
  for (int number = 1; number < count; ++number) others.emplace_back(work, number, count);
  work(0, count);
  for (std::thread& other : others) other.join();
#else
#pragma omp parallel num_threads(count)
  work(omp_get_thread_num(), omp_get_num_threads());  // which may be fewer than requested
#endif
}

}  // namespace detail
}  // namespace heed::inline HEED_REAL
