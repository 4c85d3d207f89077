// The memory of this machine and of this process, as Linux reports it in /proc and /sys.
#pragma once

#include <string>

#include "core/real.h"

namespace heed::inline HEED_REAL {

// Returns how many more bytes of memory this process can use: the minimum of what the machine has
// available, without swapping, and of what each of its control groups (version 1 or 2) has left. A
// group has left its limit minus what its processes use; cached files that the kernel can drop
// (inactive_file) do not count as used. Returns infinity where neither is known, as on systems
// other than Linux. `root` is the folder that contains proc and sys.
double available_memory(const std::string& root = "");

// Return the bytes of memory that this process holds now, and the most that it has held since its
// program started (getrusage() also counts the program that started it). Throw Error if Linux does
// not say.
double resident_memory();
double peak_resident_memory();

}  // namespace heed::inline HEED_REAL
