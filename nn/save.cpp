#include "nn/save.h"

#include "core/check.h"
#include "core/tensor_file.h"

namespace heed::inline HEED_REAL {

void save(const Module& module, const std::string& path) {
  write_tensors(path, module.parameters());
}

void load(Module& module, const std::string& path) {
  const std::map<std::string, Tensor> tensors = read_tensors(path);
  try {
    module.load(tensors);
  } catch (const Error& error) {
    throw InputError(path + ": " + error.what());
  }
}

}  // namespace heed::inline HEED_REAL
