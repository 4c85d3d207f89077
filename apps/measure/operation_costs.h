// What an operation costs, by formula, from its name and shapes.
//
// FLOPs are those of products of matrices, counted as apps/measure/costs.h does: a multiplication
// and its addition are two, and what a causal mask hides counts too. Everything else has none.
//
// Bytes are each operand once: forward, what it reads and its result; backward, the gradient that
// it is given, the operands that it needs again and the gradients that it gives. What a cache saves
// or a further pass costs is not in them, so that bytes/s beyond the memory's are a cache at work.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/shape.h"
#include "optim/optimizer.h"

namespace heed {

struct OperationCost {
  double flops = 0, bytes = 0;

  OperationCost& operator+=(const OperationCost& other);
};

// A call of an operation of core/ops.h.
struct OperationCall {
  static constexpr size_t most_inputs = 3;

  Shape result;
  std::array<Shape, most_inputs> inputs;  // the first of them; rank 0 where there is no tensor
  int64_t input_numbers = 0;              // of all inputs together
  // Backward alone.
  unsigned wanted = 0;           // bit i: input i wants a gradient
  int64_t gradient_numbers = 0;  // that it gave; those it handed on as they are do not count

  bool wants(int input) const { return wanted >> input & 1; }
};

OperationCost forward_cost(std::string_view name, const OperationCall& call);
OperationCost backward_cost(std::string_view name, const OperationCall& call);

// Of a step of the optimizer for so many numbers that train: gradients are read for their norm, and
// once more, with weights and state, to update these.
OperationCost optimizer_cost(const OptimOptions& optim, int64_t numbers);

}  // namespace heed
