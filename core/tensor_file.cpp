#include "core/tensor_file.h"

#include "core/check.h"

namespace heed::inline HEED_REAL {

constexpr DType real_type = sizeof(real) == 4 ? DType::F32 : DType::F64;

NamedArray array_of(const NamedParameter& tensor) {
  const Shape& shape = tensor.tensor.shape();
  return {tensor.name, real_type, {shape.begin(), shape.end()}, tensor.tensor.data()};
}

void write_tensors(const std::string& path, const std::vector<NamedParameter>& tensors,
                   const Metadata& metadata) {
  std::vector<NamedArray> arrays;
  for (const NamedParameter& tensor : tensors) arrays.push_back(array_of(tensor));
  write_safetensors(path, std::move(arrays), metadata);
}

std::map<std::string, Tensor> read_tensors(const std::string& path, Metadata* metadata) {
  const SafetensorsFile file(path);
  std::map<std::string, Tensor> tensors;
  for (const NamedArray& array : file.arrays()) {
    check_input(array.dtype == real_type, "{}: {} has elements of type {}, expected {}", path,
                array.name, dtype_name(array.dtype), dtype_name(real_type));
    check_input(array.dims.size() <= Shape::max_rank, "{}: {} has {} axes, at most {} are possible",
                path, array.name, array.dims.size(), Shape::max_rank);
    Tensor tensor = Tensor::empty(Shape(std::span(array.dims)));
    file.read(array, tensor.mutable_data());
    tensors.emplace(array.name, std::move(tensor));
  }
  if (metadata) *metadata = file.metadata();
  return tensors;
}

}  // namespace heed::inline HEED_REAL
