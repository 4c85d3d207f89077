// FLOPs and bytes of operations, counted by hand.
#include "apps/measure/operation_costs.h"

#include <doctest/doctest.h>

using namespace heed;

namespace {

constexpr double size = sizeof(real);

OperationCall call(const Shape& result, std::initializer_list<Shape> inputs) {
  OperationCall c;
  c.result = result;
  std::copy(inputs.begin(), inputs.end(), c.inputs.begin());
  for (const Shape& input : inputs) c.input_numbers += input.size();
  return c;
}

OperationCall backward(OperationCall c, unsigned wanted, int64_t gradient_numbers) {
  c.wanted = wanted;
  c.gradient_numbers = gradient_numbers;
  return c;
}

}  // namespace

TEST_CASE("operation costs: linear, and what else begins with one") {
  const OperationCall c = call({5, 7, 3}, {{5, 7, 2}, {3, 2}, {3}});
  const double product = 2 * 35 * 3 * 2;
  CHECK(forward_cost("linear", c).flops == product);
  CHECK(forward_cost("linear", c).bytes == size * (70 + 6 + 3 + 105));
  CHECK(backward_cost("linear", backward(c, 0b111, 79)).flops == 2 * product);
  CHECK(backward_cost("linear", backward(c, 0b111, 79)).bytes == size * (105 + 79 + 79));
  CHECK(backward_cost("linear", backward(c, 0b001, 70)).flops == product);
  CHECK(backward_cost("linear", backward(c, 0b100, 3)).flops == 0);
  const OperationCall loss = call({}, {{5, 7, 2}, {3, 2}});
  CHECK(forward_cost("linear_cross_entropy", loss).flops == product);
  CHECK(backward_cost("linear_cross_entropy", backward(loss, 0b11, 76)).flops == 2 * product);
}

TEST_CASE("operation costs: matmul broadcasts") {
  const OperationCall c = call({4, 5, 3}, {{5, 2}, {4, 2, 3}});
  CHECK(forward_cost("matmul", c).flops == 4 * 2 * 5 * 2 * 3);
  CHECK(backward_cost("matmul", backward(c, 0b10, 24)).flops == 4 * 2 * 5 * 2 * 3);
}

TEST_CASE("operation costs: attention, with what backward needs of it") {
  const OperationCall c = call({2, 5, 6}, {{2, 5, 4}, {2, 3, 4}, {2, 3, 6}});
  const double pairs = 2 * 2 * 5 * 3, keys = 4, values = 6;
  const char* name = "scaled_dot_product_attention";
  CHECK(forward_cost(name, c).flops == pairs * (keys + values));
  const auto flops = [&](unsigned wanted) {
    return backward_cost(name, backward(c, wanted, 1)).flops;
  };
  CHECK(flops(0b111) == pairs * (3 * keys + 2 * values));
  CHECK(flops(0b001) == pairs * (2 * keys + values));
  CHECK(flops(0b100) == pairs * (keys + values));
  CHECK(flops(0) == 0);
}

TEST_CASE("operation costs: bytes of what is handed on, of constant derivatives and of rows") {
  const OperationCall sum_of_two = call({4, 3}, {{4, 3}, {3}});
  CHECK(forward_cost("add", sum_of_two).bytes == size * (12 + 3 + 12));
  CHECK(backward_cost("add", backward(sum_of_two, 0b11, 0)).bytes == 0);
  CHECK(backward_cost("add", backward(sum_of_two, 0b11, 3)).bytes == size * (12 + 3));
  CHECK(backward_cost("mul", backward(sum_of_two, 0b11, 15)).bytes == size * (12 + 15 + 15));
  const OperationCall scaled = call({4, 3}, {{4, 3}});
  CHECK(backward_cost("mul", backward(scaled, 0b1, 12)).bytes == size * (12 + 12));
  CHECK(backward_cost("gelu", backward(scaled, 0b1, 12)).bytes == size * (12 + 12 + 12));
  CHECK(forward_cost("gelu", scaled).flops == 0);
  const OperationCall rows = call({2, 3}, {{1000, 3}});
  CHECK(forward_cost("embedding", rows).bytes == size * (6 + 6));
  CHECK(backward_cost("embedding", backward(rows, 0b1, 3000)).bytes == size * (6 + 6));
}

TEST_CASE("operation costs: the optimizer reads the gradients twice") {
  OptimOptions optim;  // adamw
  CHECK(optimizer_cost(optim, 10).bytes == size * 10 * 8);
  optim.amsgrad = true;
  CHECK(optimizer_cost(optim, 10).bytes == size * 10 * 10);
  optim = {};
  optim.kind = &optimizers::sgd;
  CHECK(optimizer_cost(optim, 10).bytes == size * 10 * 4);
  optim.momentum = 0.9;
  CHECK(optimizer_cost(optim, 10).bytes == size * 10 * 6);
}
