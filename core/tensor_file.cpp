#include "core/tensor_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <random>

#include "core/check.h"

namespace heed::inline HEED_REAL {

constexpr DType real_type = sizeof(real) == 4 ? DType::F32 : DType::F64;

ArrayHeader header_of(const NamedParameter& tensor) {
  const Shape& shape = tensor.tensor.shape();
  return {tensor.name, real_type, {shape.begin(), shape.end()}};
}

std::vector<NamedArray> arrays_of(const std::vector<NamedParameter>& tensors) {
  std::vector<NamedArray> arrays;
  for (const NamedParameter& p : tensors) arrays.push_back({header_of(p), p.tensor.data()});
  return arrays;
}

void write_tensors(const std::string& path, const std::vector<NamedParameter>& tensors,
                   const Metadata& metadata) {
  const std::string aside = fmt::format("{}.{:08x}.part", path, std::random_device()());
  try {
    write_safetensors(aside, arrays_of(tensors), metadata);
    std::filesystem::rename(aside, path);
  } catch (const std::filesystem::filesystem_error& error) {
    std::filesystem::remove(aside);
    throw Error(path + ": " + error.code().message());
  } catch (...) {
    std::error_code not_needed;
    std::filesystem::remove(aside, not_needed);
    throw;
  }
}

std::map<std::string, Tensor> read_tensors(const std::string& path, Metadata* metadata) {
  const SafetensorsFile file(path);
  std::map<std::string, Tensor> tensors;
  for (const StoredArray& array : file.arrays()) {
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
