// Stops a program that is started with too little address space (ulimit -v, ulimit -d).
//
// OpenBLAS maps a buffer for each thread in a static constructor and retries forever if that fails.
// So this runs from .preinit_array, before the constructors of shared libraries. The C library is
// not initialised there, so only system calls and simple functions are used. Only on Linux.
#if defined(__linux__) && !defined(HEED_PLAIN_SYSTEM)

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

constexpr size_t buffer_size = size_t{128} << 20;  // BUFFER_SIZE in OpenBLAS's common_x86_64.h
constexpr size_t own_size = size_t{64} << 20;      // what heed itself needs for the smallest model
constexpr size_t max_threads = 64;                 // of Debian's OpenBLAS

size_t thread_count(char** environment) {
  cpu_set_t processors;
  const bool known = sched_getaffinity(0, sizeof processors, &processors) == 0;
  size_t count = known ? static_cast<size_t>(CPU_COUNT(&processors)) : 1;
  constexpr char variable[] = "OMP_NUM_THREADS=";
  for (; *environment; ++environment) {
    if (strncmp(*environment, variable, sizeof variable - 1) != 0) continue;
    const size_t requested = strtoul(*environment + sizeof variable - 1, nullptr, 10);
    if (requested > 0 && requested < count) count = requested;
  }
  return count < max_threads ? count : max_threads;
}

void check_address_space(int, char**, char** environment) {
  const size_t threads = thread_count(environment);
  const size_t size = threads * buffer_size + own_size;
  void* const probe = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (probe != MAP_FAILED) {
    munmap(probe, size);
    return;
  }
  char line[256];
  const int length = snprintf(line, sizeof line,
                              "error: too little address space: %zu threads need %zu MiB; raise "
                              "ulimit -v, or set OMP_NUM_THREADS=1\n",
                              threads, size >> 20);
  if (write(STDERR_FILENO, line, static_cast<size_t>(length)) < 0) _exit(1);
  _exit(1);
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const run_first)(int, char**,
                                                                      char**) = check_address_space;

}  // namespace

#endif
