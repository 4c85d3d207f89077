// Checks ONNX files with libonnx: the rules of the format, and the types and shapes of all arrays.
// Also that every weight, constant and input is used, and that no matrix is stored twice. It links
// nothing of heed: libonnx needs libprotobuf, and libsentencepiece another build of it.
//   check FILE…
#include <fstream>
#include <iostream>
#include <iterator>
#include <onnx/checker.h>
#include <onnx/shape_inference/implementation.h>
#include <set>
#include <stdexcept>

namespace {

void require(bool holds, const std::string& problem) {
  if (!holds) throw std::runtime_error(problem);
}

void check(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  onnx::ModelProto file;
  require(file.ParseFromString(bytes), "no ONNX file");
  onnx::checker::check_model(file);
  const onnx::ShapeInferenceOptions strict(true, 1, true);
  onnx::shape_inference::InferShapes(file, onnx::OpSchemaRegistry::Instance(), strict);
  require(file.opset_import_size() == 1 && file.opset_import(0).version() == 17, "opset");
  std::set<std::string> used, names, matrices;
  for (const auto& node : file.graph().node())
    used.insert(node.input().begin(), node.input().end());
  for (const auto& tensor : file.graph().initializer()) {
    require(names.insert(tensor.name()).second, tensor.name() + " is stored twice");
    require(used.count(tensor.name()) == 1, tensor.name() + " is not used");
    require(tensor.dims_size() < 2 || matrices.insert(tensor.raw_data()).second,
            tensor.name() + " is stored twice, under two names");
  }
  for (const auto& input : file.graph().input())
    require(used.count(input.name()) == 1, input.name() + " is not used");
}

}  // namespace

int main(int count, char** files) {
  for (int i = 1; i < count; ++i) try {
      check(files[i]);
    } catch (const std::exception& error) {
      std::cerr << files[i] << ": " << error.what() << '\n';
      return 1;
    }
  return count > 1 ? 0 : 1;
}
