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
//
// The op table reports them to doctest (tests/core/op_table.h), the graders of the course to a
// learner (course/grader). Without a definition only gradients are checked: see gradcheck.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/gradcheck/array.h"
#include "core/gradcheck/gradcheck.h"

namespace heed::inline HEED_REAL::testing {

using Arrays = std::span<const Array>;

struct OpRow {
  std::string name;           // of the operation; then, after a colon, of the case
  std::vector<Shape> inputs;  // their values are random, within [low, high]
  Shape result;               // the expected shape
  std::function<Tensor(Tensors x)> op;
  std::function<double(Arrays x, const Index& i)> definition;  // y[i]; or none
  double low = -2, high = 2;
  // Values that differ by 1/256 from one another and from 0, for functions with kinks.
  bool distinct = false;
  std::vector<std::vector<double>> values = {};  // instead of random values
  std::vector<Shape> large = {};                 // inputs that are shared among threads; or none
  std::vector<std::function<void()>> misuses = {};
  std::vector<std::string> arguments = {};  // names of the inputs for reports; or none
  bool differentiable = true;               // false: only the shape and the values are checked
};

// An element that differs from the expected one.
struct Difference {
  Index index;
  double got, expected;
};

// A check that failed.
struct Failure {
  enum class Kind {
    shape,         // of the result
    value,         // of the result
    kept,          // a result of frozen inputs remembers how it was computed
    unrecorded,    // a result of inputs that require a gradient does not
    gradient,      // differs from central differences, or did not arrive
    frozen,        // a gradient depends on which other inputs require one
    accumulation,  // a second loss does not add to the gradient
    changed,       // a gradient reads an input that was changed
    exception,
    large,   // inputs that are shared among threads
    misuse,  // did not throw, or not as it should
    memory,  // is still allocated
  };
  Kind kind;
  int input = -1;         // whose gradient it is
  std::string text = {};  // one line: the row, the input, the index, the value and the expected one
  std::optional<Difference> difference = {};
};

// What the checks of a row found, and the example that they computed: the inputs, the cotangent
// and what came out. The gradients are empty where none arrived, or where the value is wrong.
struct RowReport {
  std::vector<Failure> failures;
  std::vector<Array> inputs;
  Array cotangent;
  Array value;
  std::vector<Array> gradients;
};

struct RowCheck {
  uint64_t seed = 0;     // of random values; they also depend on the name of the row
  double tolerance = 0;  // of values, relative to the largest; 0: that of the op table
  double eps = 1e-5;     // half of the step of central differences
  double gradient_tolerance = sizeof(real) == sizeof(double) ? 1e-6 : 2e-5;
  // Skips what comes after wrong gradients. A backward that reads an input that it should not,
  // which was not saved because nobody needs it, crashes where other inputs are frozen.
  bool stops_at_gradients = false;
};
RowReport check_row(const OpRow& row, const RowCheck& how = {});

}  // namespace heed::inline HEED_REAL::testing
