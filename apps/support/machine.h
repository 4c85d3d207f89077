// The processor of this machine, and this process, as Linux reports them. Elsewhere the processor
// is unknown, and the process is known from what main() passes on.
#pragma once

#include <string>
#include <vector>

#include "core/scope.h"

namespace heed {

inline constexpr double mib = 1 << 20;  // bytes

std::string processor_name();                   // "unknown processor" if the system does not say
std::vector<std::string> processor_features();  // those that heed has kernels for, such as avx2
const char* precision_name(Precision precision);
std::vector<std::string> available_precisions();

// Seconds that all threads of this process have computed; the arguments that it was started with.
double cpu_seconds();
std::vector<std::string> command_line();
// Keeps the arguments of main() for command_line() and program_path() on systems that do not tell.
void keep_command_line(int argc, char** argv);
// The name of this machine in its network.
std::string host_name();
// Lets program_path() and command_line() return these in the calling thread, of a process that has
// heed as a library.
void use_program(const std::string& path, const std::vector<std::string>& words);
// The file of this program. Throws Error if the system does not say.
std::string program_path();
// A path that starts this program; on Linux even if its file has been replaced meanwhile.
std::string running_program();

}  // namespace heed
