// Tensors as the arrays of a safetensors file.
#pragma once

#include <string>
#include <vector>

#include "apps/training/checkpoint.h"
#include "core/parameter.h"

namespace heed {

// For saving. The arrays are views and live as long as the tensors.
std::vector<NamedArray> arrays_of(const std::vector<NamedParameter>& parameters);
// For loading. Reading into the targets changes the tensors.
std::vector<ArrayTarget> targets_of(const std::vector<NamedParameter>& parameters);

// Loads initial weights from a run (its best checkpoint) or a .safetensors file into the parameters
// whose names match one of the patterns. Throws InputError if no name matches, or if the file lacks
// one of them or has it in another shape.
void load_weights(const std::string& path, const std::vector<std::string>& patterns,
                  const std::vector<NamedParameter>& parameters);

}  // namespace heed
