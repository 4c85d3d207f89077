// Emulates the AMX tile instructions on a processor without them. Each raises the signal for an
// illegal instruction; the handler decodes it, executes its definition (software_tiles.h) and
// resumes after it. This is thousands of times slower, but tests kernels/bfloat16/amx.cpp as it was
// compiled: tile numbers, addresses, strides, configuration.
#pragma once

#include "core/real.h"

namespace heed::inline HEED_REAL::testing {

// Emulates AMX for as long as it lives. Aborts the program on anything that AMX would not allow,
// such as the use of a tile by a thread that has not configured it, or a configuration left behind.
class EmulatedAmx {
 public:
  EmulatedAmx();
  ~EmulatedAmx();
  EmulatedAmx(const EmulatedAmx&) = delete;
  EmulatedAmx& operator=(const EmulatedAmx&) = delete;

  // Returns whether the processor has all that amx.cpp was compiled for, except AMX.
  static bool possible();
  // The number of instructions emulated since the start of the program, by all threads.
  static long instructions();
};

}  // namespace heed::inline HEED_REAL::testing
