// The memory of this machine and of this process, as Linux reports it in /proc and /sys, and memory
// from the system.
#pragma once

#include <cstddef>
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
// not say. On other systems both are the maximum, by getrusage().
double resident_memory();
double peak_resident_memory();

// Takes whole pages from the system, filled with zeros. The system finds memory for a page when it
// is first written. Returns null if the system refuses. Huge pages (2 MiB) are written and read
// faster, and may take more memory; only Linux has the choice.
enum class Pages { small, huge };
void* map_memory(size_t bytes, Pages pages);
// Returns what map_memory() gave, with the same size.
void unmap_memory(void* memory, size_t bytes) noexcept;

}  // namespace heed::inline HEED_REAL
