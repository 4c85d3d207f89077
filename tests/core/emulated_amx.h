// The tile instructions of AMX on a processor without them: each stops the program with the signal
// for an illegal instruction, whose handler decodes it, does what its definition says
// (software_tiles.h) and goes on behind it. Thousands of times slower; but what runs is the code of
// kernels/bfloat16/amx.cpp as it was compiled: numbers of tiles, addresses, strides, configuration.
#pragma once

#include "core/real.h"

namespace heed::inline HEED_REAL::testing {

// While it lives the process has AMX. Anything that AMX would not allow ends the program: a tile
// used by a thread that has not configured it, a configuration left behind.
class EmulatedAmx {
 public:
  EmulatedAmx();
  ~EmulatedAmx();
  EmulatedAmx(const EmulatedAmx&) = delete;
  EmulatedAmx& operator=(const EmulatedAmx&) = delete;

  // What amx.cpp was compiled with, but for AMX itself.
  static bool possible();
  // Instructions done since the start of the program, by all threads.
  static long instructions();
};

}  // namespace heed::inline HEED_REAL::testing
