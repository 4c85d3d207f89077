#pragma once

#include <string>

namespace heed {

extern const char* const program_version;  // "0.1.0"

// Version, processor, BLAS and precisions: the text of `heed --version`.
std::string version_text();

}  // namespace heed
