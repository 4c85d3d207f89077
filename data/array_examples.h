// Examples from arrays: a .safetensors file with `input` and `target`, whose first axis counts the
// examples.
//
//   input    (N, T) or (N, T, F): vectors; (N, H, W, F) and more axes: the cells of a grid
//   target   (N): one for the whole; or the axes of input without F: one at each position
//
// Floating-point targets are numbers, and NaN is none. Integers are tokens or labels, written as
// such, and -1 is none.
#pragma once

#include <functional>
#include <string>

#include "data/example_line.h"

namespace heed {

// Calls visit(example, i) for each, as if it had been read from a line. Throws InputError, with the
// path and the array, for a file that is damaged or has other arrays, types or shapes.
void for_each_array_example(const std::string& path,
                            const std::function<void(ExampleLine& example, int64_t i)>& visit);

}  // namespace heed
