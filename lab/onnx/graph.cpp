#include "lab/onnx/graph.h"

#include <fmt/format.h>

#include "apps/support/version.h"
#include "core/check.h"
#include "core/joined.h"

namespace heed::onnx {
namespace {

// The numbers of the fields, from
// https://github.com/onnx/onnx/blob/main/onnx/onnx.proto, by message.
namespace model {
enum {
  ir_version = 1,
  producer = 2,
  producer_version = 3,
  graph = 7,
  operators = 8,
  metadata = 14
};
}
namespace graph {
enum { node = 1, name = 2, initializer = 5, input = 11, output = 12 };
}
namespace node {
enum { input = 1, output = 2, operation = 4, attribute = 5 };
}
namespace attribute {
enum { name = 1, number = 2, integer = 3, integers = 8, type = 20 };
enum { is_number = 1, is_integer = 2, is_integers = 7 };
}
namespace tensor {
enum { length = 1, type = 2, name = 8, data = 9 };
}
namespace info {  // ValueInfoProto, TypeProto, TypeProto.Tensor, TensorShapeProto, its Dimension
enum {
  name = 1,
  type = 2,
  of_tensor = 1,
  element = 1,
  shape = 2,
  axis = 1,
  length = 1,
  symbol = 2
};
}
namespace pair {
enum { key = 1, value = 2 };
}

constexpr int64_t ir_version = 8;  // of the file format; it came with opset 15
constexpr int64_t max_bytes = (int64_t{1} << 31) - (1 << 24);

int64_t size_of(Element type) { return type == Element::float32 ? 4 : 8; }

const char* element_name(Element type) {
  return type == Element::float32 ? "float32" : type == Element::int64 ? "int64" : "float64";
}

}  // namespace

Value Graph::unused_name(const std::string& operation) {
  return fmt::format("{}_{}", operation, ++names_);
}

Message Graph::described(const std::string& name, Element type, const std::vector<Axis>& axes) {
  Message shape;
  std::vector<std::string> names;
  for (const Axis& axis : axes) {
    const auto* const length = std::get_if<int64_t>(&axis);
    names.push_back(length ? std::to_string(*length) : std::get<std::string>(axis));
    Message dimension;
    length ? dimension.integer(info::length, *length) : dimension.text(info::symbol, names.back());
    shape.message(info::axis, dimension);
  }
  signature_ += fmt::format("{:<15} {} ({})\n", name, element_name(type), joined(names));
  const Message array =
      Message().integer(info::element, static_cast<int64_t>(type)).message(info::shape, shape);
  return Message()
      .text(info::name, name)
      .message(info::type, Message().message(info::of_tensor, array));
}

Value Graph::input(const std::string& name, Element type, const std::vector<Axis>& axes) {
  graph_.message(graph::input, described(name, type, axes));
  return name;
}

void Graph::output(const std::string& name, const Value& value, const std::vector<Axis>& axes) {
  graph_.message(graph::node, Message()
                                  .text(node::input, value)
                                  .text(node::output, name)
                                  .text(node::operation, "Identity"));
  graph_.message(graph::output, described(name, Element::float32, axes));
}

Value Graph::stored(const std::string& name, Element type, const Shape& shape, const void* data) {
  const int64_t bytes = shape.size() * size_of(type);
  stored_bytes_ += bytes;
  check(stored_bytes_ <= max_bytes,
        "ONNX: the weights take more than 2 GiB, the limit of one file in this format");
  Message array;
  for (const int64_t length : shape) array.integer(tensor::length, length);
  array.integer(tensor::type, static_cast<int64_t>(type)).text(tensor::name, name);
  array.text(tensor::data, {static_cast<const char*>(data), static_cast<size_t>(bytes)});
  graph_.message(graph::initializer, array);
  return name;
}

Value Graph::weight(const std::string& name, const Tensor& values) {
  return stored(name, Element::float32, values.shape(), values.data());
}

Value Graph::integers(const std::vector<int64_t>& values) {
  return stored(unused_name("integers"), Element::int64, {std::ssize(values)}, values.data());
}

Value Graph::numbers(const std::vector<double>& values) {
  return stored(unused_name("numbers"), Element::float64, {std::ssize(values)}, values.data());
}

Value Graph::integer(int64_t value) {
  return stored(unused_name("integer"), Element::int64, {}, &value);
}

Value Graph::number(float value) {
  return stored(unused_name("number"), Element::float32, {}, &value);
}

Value Graph::node(const std::string& operation, const std::vector<Value>& inputs,
                  const std::vector<Attribute>& attributes) {
  const Value output = unused_name(operation);
  Message added;
  for (const Value& input : inputs) added.text(node::input, input);
  added.text(node::output, output).text(node::operation, operation);
  for (const Attribute& a : attributes) {
    Message own;
    own.text(attribute::name, a.name);
    if (const auto* number = std::get_if<float>(&a.value)) {
      own.number(attribute::number, *number).integer(attribute::type, attribute::is_number);
    } else if (const auto* integer = std::get_if<int64_t>(&a.value)) {
      own.integer(attribute::integer, *integer).integer(attribute::type, attribute::is_integer);
    } else {
      for (const int64_t i : std::get<std::vector<int64_t>>(a.value))
        own.integer(attribute::integers, i);
      own.integer(attribute::type, attribute::is_integers);
    }
    added.message(node::attribute, own);
  }
  graph_.message(graph::node, added);
  return output;
}

void Graph::note(const std::string& key, const std::string& text) {
  metadata_.message(model::metadata, Message().text(pair::key, key).text(pair::value, text));
}

std::string Graph::bytes() const {
  Message body = graph_;
  body.text(graph::name, "heed");
  Message file;
  file.integer(model::ir_version, ir_version)
      .text(model::producer, "heed")
      .text(model::producer_version, program_version)
      .message(model::operators, Message().integer(2, opset))  // of the default domain
      .message(model::graph, body);
  return file.bytes() + metadata_.bytes();
}

}  // namespace heed::onnx
