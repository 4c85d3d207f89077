#include <cstdlib>
#include <fcntl.h>
#include <signal.h>
#include <string>
#include <unistd.h>

#include "apps/program.h"
#include "apps/support/machine.h"
#include "core/check.h"
#include "core/processors.h"

namespace {

// Limits how long OpenMP threads spin while they wait. The default of milliseconds makes steps ten
// times slower if other programs run. Without spinning, small steps take twice as long on an idle
// machine. libgomp reads the limit before main() begins, so the program restarts itself once.
void limit_thread_spinning(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT")) return;
  std::string program;
  try {
    program = heed::program_path();
  } catch (const heed::Error&) {
    return;
  }
  heed::untie_thread();
  setenv("GOMP_SPINCOUNT", "3000", 0);
  execv(program.c_str(), argv);
}

// Opens /dev/null for closed standard streams, whose descriptors would otherwise be reused for the
// next files. Opens standard output read-only, so that writing to it still fails.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)
      open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  // Exceeding the limit of a file's size and writing to a closed pipe are errors of write().
  signal(SIGXFSZ, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  heed::keep_command_line(argc, argv);
  limit_thread_spinning(argv);
  return heed::run_program(heed::program_commands(), argc, argv);
}
