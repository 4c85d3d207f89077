// The processor and the memory of this machine, as Linux reports them.
#pragma once

#include <string>
#include <vector>

#include "core/scope.h"

namespace heed {

inline constexpr double mib = 1 << 20;  // bytes

std::string processor_name();                   // "unknown processor" if Linux does not say
std::vector<std::string> processor_features();  // those that heed has kernels for, such as avx2
const char* precision_name(Precision precision);
std::vector<std::string> available_precisions();

// Returns the memory in bytes for this process: the minimum of the available memory of the system
// and the limits of its control groups. Infinity if neither is known. `root` is the folder that
// contains proc and sys.
double available_memory(const std::string& root = "");
// Bytes of memory that this process holds now, and the most it has held since its program started
// (getrusage() also counts the program that started it). Throws Error if Linux does not say.
double resident_memory();
double peak_resident_memory();

// Seconds that all threads of this process have computed; the arguments that it was started with.
double cpu_seconds();
std::vector<std::string> command_line();
// The name of this machine in its network.
std::string host_name();
// The file of this program. Throws Error if Linux does not say.
std::string program_path();

}  // namespace heed
