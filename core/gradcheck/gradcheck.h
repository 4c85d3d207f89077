// Gradients against central differences, as torch.autograd.gradcheck() checks them.
//
//   const auto f = [](Tensors x) { return tanh(matmul(x[0], x[1])); };
//   gradcheck(f, {a, b});  // throws Error, which names the first wrong element
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/tensor.h"

namespace heed::inline HEED_REAL {

// The inputs of a function of tensors.
using Tensors = std::span<const Tensor>;

struct GradcheckOptions {
  // Half of the step of a difference. In float32, which is less exact, it is longer.
  double eps = sizeof(real) == sizeof(double) ? 1e-5 : 0x1p-7;
  // Accepted error, relative to the largest element of the gradient, or to 1 if that is larger.
  double tolerance = sizeof(real) == sizeof(double) ? 1e-6 : 1e-2;
  uint64_t seed = 0;  // of the cotangent
};

// Checks the gradients of Σ c · function(x) with respect to every element of every input, where c
// is a random cotangent of the result's shape. Also checks each subset of up to eight inputs, the
// sum of two backward passes, and that an input which changes before backward is noticed or does
// not matter. The inputs' values are copied; `function` must give the same result for the same
// values. In float32 this finds wrong formulas, and no errors below 1 %; in double, as in the
// target heed_core_f64, errors of 1e-6. Throws Error with the input, the index, the gradient and
// the difference if they disagree, and without any input.
void gradcheck(const std::function<Tensor(Tensors x)>& function, const std::vector<Tensor>& inputs,
               const GradcheckOptions& options = {});

}  // namespace heed::inline HEED_REAL
