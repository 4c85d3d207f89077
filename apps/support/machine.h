// The processor of this machine, and this process, as Linux reports them.
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

// Seconds that all threads of this process have computed; the arguments that it was started with.
double cpu_seconds();
std::vector<std::string> command_line();
// The name of this machine in its network.
std::string host_name();
// The file of this program. Throws Error if Linux does not say.
std::string program_path();

}  // namespace heed
