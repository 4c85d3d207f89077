// Five steps of an optimizer: with the layout of the full build, and with that of the minimal one.
#pragma once

#include <cmath>
#include <vector>

#include "optim/trained.h"

namespace heed::inline HEED_REAL {

struct OptimOptions;

struct FiveSteps {
  std::vector<double> norms;
  std::vector<NamedParameter> parameters;
};

inline std::vector<NamedParameter> five_step_parameters() {
  // Sizes of whole cache lines, which kernels/adam.cpp needs.
  return {{"w", parameter(Shape{8, 32}, [](int64_t i) { return std::sin(0.4 * i); })},
          {"b", parameter(Shape{64}, [](int64_t i) { return std::sin(0.5 * i); })},
          {"frozen", Tensor::full({3}, 2)},
          {"without a gradient", parameter(Shape{16}, [](int64_t) { return 1; })}};
}

template <class AnyOptimizer>
FiveSteps five_steps(const OptimOptions& options) {
  FiveSteps made{{}, five_step_parameters()};
  AnyOptimizer optimizer(options, made.parameters);
  for (int64_t t = 0; t < 5; ++t) {
    optimizer.zero_grad();
    for (int64_t p = 0; p < 2; ++p)
      give_gradient(made.parameters[static_cast<size_t>(p)].tensor, [=](int64_t i) {
        return std::sin(0.1 * static_cast<double>(i * (t + p + 1)));
      });
    made.norms.push_back(optimizer.step(0.5));
  }
  CHECK(optimizer.steps() == 5);
  CHECK_THROWS_AS(AnyOptimizer(options, {{"frozen", Tensor::full({3}, 2)}}), InputError);
  CHECK_THROWS_AS(AnyOptimizer(options, {}), InputError);
  return made;
}

// By the Optimizer of the minimal build.
FiveSteps separate_five_steps(const OptimOptions& options);

}  // namespace heed::inline HEED_REAL
