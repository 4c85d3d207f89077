// The weights of a module in a file, under the names of parameters().
//
//   save(model, "model.safetensors");
//   load(model, "model.safetensors");
#pragma once

#include <string>

#include "nn/module.h"

namespace heed::inline HEED_REAL {

// Writes all parameters in the safetensors format. The file appears whole or not at all. Throws
// Error with the path if it cannot be written.
void save(const Module& module, const std::string& path);

// Reads a file that save() wrote, or any with arrays of these names, into the parameters. Throws
// InputError with the path, and changes nothing, if the file is missing or damaged, or unless it
// has exactly the parameters' names and shapes.
void load(Module& module, const std::string& path);

}  // namespace heed::inline HEED_REAL
