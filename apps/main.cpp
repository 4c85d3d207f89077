#include <climits>

#include <cstdlib>
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

}  // namespace

int main(int argc, char** argv) {
  start_with_patient_threads(argv);
  return heed::run_program(argc, argv);
}
