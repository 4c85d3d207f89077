// The state of an optimizer in a file: its moments, the number of its steps and its learning rate.
//
//   save(optimizer, "optimizer.safetensors");
//   load(optimizer, "optimizer.safetensors");  // the next steps are bitwise those of the saved one
#pragma once

#include <string>

#include "optim/optimizer.h"

namespace heed::inline HEED_REAL {

// Writes the state in the safetensors format. The file appears whole or not at all. Throws Error
// with the path if it cannot be written.
void save(const Optimizer& optimizer, const std::string& path);

// Restores a state that save() wrote. Throws InputError with the path, and changes nothing, if the
// file is missing or damaged, or belongs to another kind of optimizer or to other parameters.
void load(Optimizer& optimizer, const std::string& path);

}  // namespace heed::inline HEED_REAL
