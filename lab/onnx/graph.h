// A graph of ONNX operators, built one operator at a time.
//
//   Graph g;
//   const Value x = g.input("x", Element::float32, {"batch", 3});
//   g.output("y", g.node("Relu", {g.node("MatMul", {x, g.weight("w", w)})}), {"batch", 2});
//   write_file("model.onnx", g.bytes());
//
// Operators and their attributes: https://onnx.ai/onnx/operators.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/tensor.h"
#include "lab/onnx/protobuf.h"

namespace heed::onnx {

using Value = std::string;  // the name of an array: an input, a weight or the output of an operator

// Types of elements, by their numbers in a file (TensorProto.DataType).
enum class Element { float32 = 1, int64 = 7, float64 = 11 };

// The length of an axis, or the name of one that may have any length.
using Axis = std::variant<int64_t, std::string>;

struct Attribute {
  std::string name;
  std::variant<int64_t, float, std::vector<int64_t>> value;
};

class Graph {
 public:
  static constexpr int64_t opset = 17;  // version of the set of operators

  Value input(const std::string& name, Element type, const std::vector<Axis>& axes);
  void output(const std::string& name, const Value& value, const std::vector<Axis>& axes);
  // Stores a tensor under its name. Throws Error if the file would exceed 2 GiB, the limit of
  // Protocol Buffers.
  Value weight(const std::string& name, const Tensor& tensor);
  // Constants: arrays of one axis, int64 or float64, and scalars, int64 or float32.
  Value integers(const std::vector<int64_t>& values);
  Value numbers(const std::vector<double>& values);
  Value integer(int64_t value);
  Value number(float value);
  // Adds an operator and returns its output.
  Value node(const std::string& operation, const std::vector<Value>& inputs,
             const std::vector<Attribute>& attributes = {});

  // Common operators.
  Value add(const Value& x, const Value& y) { return node("Add", {x, y}); }
  Value mul(const Value& x, const Value& y) { return node("Mul", {x, y}); }
  Value mul(const Value& x, double factor) {
    return factor == 1 ? x : mul(x, number(static_cast<float>(factor)));
  }
  Value matmul(const Value& x, const Value& y) { return node("MatMul", {x, y}); }
  Value transpose(const Value& x, const std::vector<int64_t>& axes) {
    return node("Transpose", {x}, {{"perm", axes}});
  }
  // A length of 0 stands for that of x, -1 for the remaining elements.
  Value reshape(const Value& x, const std::vector<int64_t>& lengths) {
    return node("Reshape", {x, integers(lengths)});
  }
  Value unsqueeze(const Value& x, const std::vector<int64_t>& axes) {
    return node("Unsqueeze", {x, integers(axes)});
  }
  // Rows `indices` of x along an axis.
  Value gather(const Value& x, const Value& indices, int64_t axis = 0) {
    return node("Gather", {x, indices}, {{"axis", axis}});
  }
  Value cast(const Value& x, Element type) {
    return node("Cast", {x}, {{"to", static_cast<int64_t>(type)}});
  }

  // The name, type and axes of each input and output, one a line.
  const std::string& signature() const { return signature_; }
  // Adds a text to the metadata of the file.
  void note(const std::string& key, const std::string& text);
  // The file. Equal graphs give equal bytes.
  std::string bytes() const;

 private:
  Value stored(const std::string& name, Element type, const Shape& shape, const void* data);
  Message described(const std::string& name, Element type, const std::vector<Axis>& axes);
  Value unused_name(const std::string& operation);

  Message graph_, metadata_;
  std::string signature_;
  int64_t names_ = 0, stored_bytes_ = 0;
};

}  // namespace heed::onnx
