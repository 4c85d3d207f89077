#include "apps/measure/operation_costs.h"

#include <algorithm>

#include "apps/measure/costs.h"

namespace heed {

OperationCost& OperationCost::operator+=(const OperationCost& other) {
  flops += other.flops;
  bytes += other.bytes;
  return *this;
}

namespace {

double numbers(const Shape& shape) { return static_cast<double>(shape.size()); }
double length(const Shape& shape, int axis) { return static_cast<double>(shape[axis]); }

// Operations whose first two inputs are x (…, I) and w (O, I): linear, and those that do more.
bool is_linear(std::string_view name) { return name.starts_with("linear"); }

// One of the products that make up an operation.
double product(std::string_view name, const OperationCall& call) {
  const Shape &a = call.inputs[0], &b = call.inputs[1];
  if (is_linear(name)) return linear_flops(numbers(a) / length(a, -1), numbers(b), true).forward;
  if (name == "matmul") return 2 * numbers(call.result) * length(a, -1);
  return 0;
}

// q (B, Tq, K), k (B, Tk, K), v (B, Tk, V), all heads together.
constexpr std::string_view attention = "scaled_dot_product_attention";

double attention_forward(const OperationCall& call) {
  const auto& [q, k, v] = call.inputs;
  return attention_flops(length(q, 0), length(q, 1), length(k, 1), length(k, 2), length(v, 2))
      .forward;
}

// Q Kᵀ once more and dP for dQ or dK; then dQ, dK and dV, those that are wanted.
double attention_backward(const OperationCall& call) {
  const auto& [q, k, v] = call.inputs;
  const double pairs = 2 * length(q, 0) * length(q, 1) * length(k, 1);
  const double key_products = 1 + call.wants(0) + call.wants(1);
  const double value_products = (call.wants(0) || call.wants(1)) + call.wants(2);
  return pairs * (key_products * length(k, 2) + value_products * length(v, 2));
}

// Whether backward needs nothing but the gradient it is given: derivatives that are constant.
bool is_constant_derivative(std::string_view name, const OperationCall& call) {
  constexpr std::string_view names[] = {
      "add",   "sub",   "neg",    "sum",   "mean",   "permute",     "transpose",   "slice",
      "split", "stack", "concat", "where", "rotary", "masked_fill", "segment_sum", "dropout"};
  const bool scaled = name == "mul" && call.inputs[1].rank() == 0;
  return scaled || std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

OperationCost forward_cost(std::string_view name, const OperationCall& call) {
  const bool of_rows = name == "embedding";  // which reads some rows of its table alone
  const double read = of_rows ? numbers(call.result) : static_cast<double>(call.input_numbers);
  return {name == attention ? attention_forward(call) : product(name, call),
          sizeof(real) * (read + numbers(call.result))};
}

OperationCost backward_cost(std::string_view name, const OperationCall& call) {
  if (call.wanted == 0) return {};
  const double flops = name == attention ? attention_backward(call)
                                         : product(name, call) * (call.wants(0) + call.wants(1));
  if (call.gradient_numbers == 0) return {flops, 0};
  if (name == "embedding") return {flops, sizeof(real) * 2 * numbers(call.result)};
  const double again =
      is_constant_derivative(name, call) ? 0 : static_cast<double>(call.input_numbers);
  return {flops, sizeof(real) *
                     (numbers(call.result) + again + static_cast<double>(call.gradient_numbers))};
}

OperationCost optimizer_cost(const OptimOptions& optim, int64_t trained) {
  // Reads g for the norm, then reads g, w and the state, and writes w and the state.
  const double arrays = 1 + 3 + 2 * static_cast<double>(optim.kind->state(optim).size());
  return {0, sizeof(real) * arrays * static_cast<double>(trained)};
}

}  // namespace heed
