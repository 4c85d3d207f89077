// Properties of every operation, checked from one row that describes it.
//
// A row has an operation, shapes for its inputs, and its naive definition: the value of one element
// of the result, in double. From that follow the checks of op_check.cpp:
//   - the result has the shape and the values of the definition
//   - every element of every gradient agrees with central differences, under a random cotangent
//   - freezing any of the inputs does not change the gradients of the others
//   - a second loss adds to the gradients of the first
//   - an input that is changed before backward is detected, or does not matter
//   - nothing is recorded if no input requires a gradient, and nothing stays allocated
//   - larger inputs give the same bits for any number of threads, and the correct derivative along
//     random directions
//   - a misuse throws an Error that names the operation
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "array.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL::testing {

using Arrays = std::span<const Array>;
using Tensors = std::span<const Tensor>;

struct OpRow {
  std::string name;           // of the operation; then, after a colon, of the case
  std::vector<Shape> inputs;  // their values are random, within [low, high]
  Shape result;               // the expected shape
  std::function<Tensor(Tensors x)> op;
  std::function<double(Arrays x, const Index& i)> definition;  // y[i]
  double low = -2, high = 2;
  // Values that differ by 1/256 from one another and from 0, for functions with kinks.
  bool distinct = false;
  std::vector<std::vector<double>> values = {};  // instead of random values
  std::vector<Shape> large = {};                 // inputs that are shared among threads; or none
  std::vector<std::function<void()>> misuses = {};
};

// One line for each check that fails: the operation, the input, the index, the value and the
// expected one.
std::vector<std::string> failures_of(const OpRow& row);

// Reports them to doctest.
void check_rows(std::span<const OpRow> rows);

}  // namespace heed::inline HEED_REAL::testing
