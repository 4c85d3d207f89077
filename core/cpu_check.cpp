// Stops a program that was built for another processor with an error message, instead of an illegal
// instruction.
//
// The build writes into HEED_CPU_FEATURES what it lets the compiler use (cmake/processor.cmake).
// Only this file is compiled for any x86-64. It runs before all constructors of static objects, and
// so before the first instruction that may be missing. It uses nothing of the C++ library, because
// the linker keeps one copy of an inline function for the whole program, which may be compiled with
// AVX.
#include <string.h>
#include <unistd.h>

#ifdef __AVX__
#error "core/cpu_check.cpp must be compiled for any x86-64"
#endif

namespace {

struct Line {
  char text[1024];
  size_t length = 0;

  void add(const char* words) {
    const size_t n = strlen(words);
    if (length + n > sizeof(text)) return;
    memcpy(text + length, words, n);
    length += n;
  }
};

}  // namespace

// 101 is the first priority a program may use; static objects come after all of them.
extern "C" [[gnu::constructor(101)]] void heed_cpu_check() {
#ifdef HEED_CPU_FEATURES
  __builtin_cpu_init();
  bool lacks = false;
  Line line;
  line.add("heed: built for a processor with ");
#define X(feature)                         \
  if (!__builtin_cpu_supports(#feature)) { \
    if (lacks) line.add(", ");             \
    line.add(#feature);                    \
    lacks = true;                          \
  }
  HEED_CPU_FEATURES
#undef X
  if (!lacks) return;
  line.add(", which this one lacks: build heed anew on this machine, in an empty folder\n");
  if (write(STDERR_FILENO, line.text, line.length) < 0) _exit(1);
  _exit(1);
#endif
}
