// Stops a program that was built for another processor, with a sentence instead of "illegal
// instruction".
//
// The build writes into HEED_CPU_FEATURES what it lets the compiler use (cmake/processor.cmake).
// This file alone is compiled for any x86-64. It runs before every constructor of the program, the
// static objects of other files among them, and so before the first instruction that may be
// missing. It uses nothing of the C++ library: of an inline function the linker keeps one copy for
// the whole program, and that may be one compiled with AVX.
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
  line.add(", which this one lacks: delete the build folder and build again on this machine\n");
  if (write(STDERR_FILENO, line.text, line.length) < 0) _exit(1);
  _exit(1);
#endif
}
