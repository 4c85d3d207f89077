#include "apps/support/child_process.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "core/check.h"

#if defined(__linux__) && !defined(HEED_PLAIN_SYSTEM)
#include <sys/personality.h>
#include <sys/prctl.h>
#endif

namespace heed {

#if defined(__linux__) && !defined(HEED_PLAIN_SYSTEM)

ProcessPipe make_pipe(const char* purpose) {
  int ends[2];
  check(::pipe2(ends, O_CLOEXEC) == 0, "{}: {}", purpose, std::strerror(errno));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void end_with_parent(int signal) { ::prctl(PR_SET_PDEATHSIG, signal); }

void fix_addresses() { ::personality(ADDR_NO_RANDOMIZE); }

#else

// Another thread that calls exec() between the two calls would pass the ends on.
ProcessPipe make_pipe(const char* purpose) {
  int ends[2];
  check(::pipe(ends) == 0, "{}: {}", purpose, std::strerror(errno));
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void end_with_parent(int) {}

void fix_addresses() {}

#endif

}  // namespace heed
