#pragma once

#include <string>

namespace heed {

extern const char* const program_version;   // "0.3.0-dev"
extern const char* const program_compiler;  // "GNU 12.2.0"
extern const char* const program_flags;     // "-O2 -DNDEBUG -march=native"

// The kind of processor that the kernels are compiled for, such as "x86-64-v3": it decides about
// the last bits of results, with the processor (core/kernels/simd/vector.h).
extern const char* const program_kernels;

// The commit that the program was built from, with "-dirty" if files had changed; "" if unknown.
const char* program_commit();
bool set_program_commit(const char* commit);  // called before main() by a generated file

// Version, build, processor, BLAS and precisions: the text of `heed --version`.
std::string version_text();

}  // namespace heed
