// Tensors in a file: what save() and load() of a module (nn/save.h) and of an optimizer
// (optim/save.h) share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/safetensors.h"
#include "core/tensor.h"

namespace heed::inline HEED_REAL {

// Returns a tensor as it is written to a file, a view that lives as long as the tensor.
NamedArray array_of(const NamedParameter& tensor);

// Writes tensors under their names in the safetensors format, as float32 (float64 if `real` is
// double). The file appears whole or not at all. Throws Error with the path if the disk is full or
// the folder is not writable, and with the name if a tensor has one that a file cannot hold.
void write_tensors(const std::string& path, const std::vector<NamedParameter>& tensors,
                   const Metadata& metadata = {});

// Reads every array of such a file. Throws InputError with the path if it is missing or damaged,
// and for an array of another type or of a rank above six.
std::map<std::string, Tensor> read_tensors(const std::string& path, Metadata* metadata = nullptr);

}  // namespace heed::inline HEED_REAL
