// Starts the program of an archive whose kernels are the best for the processor.
//
// An archive has one program for each kind of processor (packaging/release.sh). bin/heed runs on
// all of them, and only it has this file: it becomes ../libexec/heed-KIND where that program runs,
// too. No program has code for a newer kind than its own, so each has the bits of a build for its
// kind. HEED_KERNELS=v3 in the environment asks for a kind.
//
// This runs before all constructors of static objects and before OpenMP starts. Like
// core/cpu_check.cpp it uses nothing of the C++ library.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#ifdef __AVX__
#error "apps/choose_kernels.cpp must be compiled for the oldest processor"
#endif

namespace {

struct Kind {
  const char* name;  // such as x86-64-v3
  bool runs_here;

  const char* short_name() const { return strrchr(name, '-') + 1; }
};

// Returns, with a line that has no end yet, only if it fails.
void become(const Kind& kind, char** argv) {
  char path[PATH_MAX + 64] = "";
  // Not /proc/self/exe, which a bare system may lack.
  const unsigned long started = getauxval(AT_EXECFN);
  const char* file = nullptr;
  memcpy(&file, &started, sizeof file);
  if (realpath(file, path)) {
    for (int i = 0; i < 2; ++i)  // /opt/heed/bin/heed becomes /opt/heed
      if (char* const slash = strrchr(path, '/')) *slash = 0;
    strcat(strcat(path, "/libexec/heed-"), kind.name);
    execve(path, argv, environ);
  }
  dprintf(STDERR_FILENO, "error: %s: %s: ", path, strerror(errno));
}

}  // namespace

// The C libraries of GNU, macOS and the BSDs pass the arguments of main() to constructors.
extern "C" [[gnu::constructor(101)]] void heed_choose_kernels(int, char** argv) {
  __builtin_cpu_init();
#define KIND(name, ...) {#name, true __VA_ARGS__},
#define X(feature) &&__builtin_cpu_supports(#feature)
  const Kind kinds[] = {HEED_KINDS};  // the best first; this program's own is the last
#undef X
#undef KIND
  const Kind& own = kinds[sizeof kinds / sizeof *kinds - 1];
  const char* const asked = getenv("HEED_KERNELS");
  const bool any = !asked || !*asked;
  const Kind* chosen = any ? &own : nullptr;
  for (const Kind& kind : kinds)
    if (any ? kind.runs_here : strcmp(kind.short_name(), asked) == 0) {
      chosen = &kind;
      break;
    }
  if (chosen == &own) return;  // core/cpu_check.cpp finds out whether it runs
  if (chosen && chosen->runs_here) {
    become(*chosen, argv);
    dprintf(STDERR_FILENO, "unpack the archive again, or set HEED_KERNELS=%s, which is slower\n",
            own.short_name());
    _exit(1);
  }
  dprintf(STDERR_FILENO,
          "error: HEED_KERNELS=%s: this program has kernels for this processor called", asked);
  for (const Kind& kind : kinds)
    if (kind.runs_here) dprintf(STDERR_FILENO, " %s", kind.short_name());
  dprintf(STDERR_FILENO, "; choose one of them, or unset HEED_KERNELS\n");
  _exit(2);  // the exit code of invalid input
}
