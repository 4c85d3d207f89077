#include "core/parallel.h"

#include <fstream>
#include <sched.h>
#include <set>
#include <string>

#ifdef HEED_STD_THREADS
#include <thread>
#include <vector>
#else
#include <omp.h>
#endif

#include "core/check.h"

namespace heed::inline HEED_REAL {

int physical_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 1;
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
thread_local int worker = 0;
thread_local bool inside = false;
}  // namespace

int thread_count() { return threads(); }

void set_thread_count(int count) {
  check(count >= 1, "threads: at least 1, got {}", count);
  threads() = count;
}

int current_worker() { return worker; }

namespace detail {

void run_chunks(int64_t chunks, void (*run)(void*, int64_t), void* context) {
  const int count = static_cast<int>(std::min<int64_t>(threads(), chunks));
  if (count == 1 || inside) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) run(context, chunk);
    return;
  }
  const auto work = [=](int number, int workers) {
    worker = number;
    inside = true;
    // Neighbours go to one worker: what it wrote in the last loop is in its cache in the next.
    const int64_t last = chunks * (number + 1) / workers;
    for (int64_t chunk = chunks * number / workers; chunk < last; ++chunk) run(context, chunk);
    inside = false;
    worker = 0;
  };
#ifdef HEED_STD_THREADS
  std::vector<std::thread> others;
  for (int number = 1; number < count; ++number) others.emplace_back(work, number, count);
  work(0, count);
  for (std::thread& other : others) other.join();
#else
#pragma omp parallel num_threads(count)
  work(omp_get_thread_num(), omp_get_num_threads());  // which may be fewer than were asked for
#endif
}

}  // namespace detail
}  // namespace heed::inline HEED_REAL
