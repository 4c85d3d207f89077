// The tape of the exercise tape: what a small program computed, in order.
#pragma once

#include <cstddef>

namespace heed::course {

// One step, which computed one number from earlier ones. They are counted: first the inputs, then
// the results of the steps.
struct TapeStep {
  enum class Operation { add, multiply, tanh };
  Operation operation;
  size_t a, b;  // the numbers that it read; tanh reads only a
};

}  // namespace heed::course
