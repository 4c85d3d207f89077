#include <climits>

#include <cstdlib>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "apps/program.h"
#include "core/parallel.h"

namespace {

// OpenMP's threads spin while they wait for one another, by default for milliseconds: ten times
// slower steps when anything else runs on the machine. Not to spin at all doubles the time of small
// steps on an idle one. libgomp reads how long before main() begins, so the program starts itself
// once more.
void start_with_patient_threads(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT")) return;
  char program[PATH_MAX] = {};
  if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0) return;
  heed::untie_thread();
  setenv("GOMP_SPINCOUNT", "3000", 0);
  execv(program, argv);
}

// Opens /dev/null for standard streams that are closed: the first files that are opened would take
// their numbers. Standard output is opened for reading, so that writing to it still fails.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)
      open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of write()
  start_with_patient_threads(argv);
  return heed::run_program(argc, argv);
}
