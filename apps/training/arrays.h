// Tensors as the arrays that checkpoints hold.
#pragma once

#include <vector>

#include "apps/training/checkpoint.h"
#include "core/parameter.h"

namespace heed {

// To save: the views last as long as the tensors.
std::vector<NamedArray> arrays_of(const std::vector<NamedParameter>& parameters);
// To load: filling the targets changes the tensors.
std::vector<ArrayTarget> targets_of(const std::vector<NamedParameter>& parameters);

// Initial weights from a run (its best checkpoint) or a .safetensors file, for the parameters whose
// names fit one of the patterns. Throws InputError if the file lacks one of them or has it in
// another shape, or if no name fits.
void load_weights(const std::string& path, const std::vector<std::string>& patterns,
                  const std::vector<NamedParameter>& parameters);

}  // namespace heed
