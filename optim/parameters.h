// Where weights, gradients and moments lie: ranges of elements, and what a rule keeps for each
// element between steps.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "core/tensor.h"

namespace heed::inline HEED_REAL {

// Consecutive elements of parameters. All arrays have the shape (size). Clients do not
// need it, but for a rule of their own (optim/rules.h).
struct ParameterRange {
  int64_t size;  // number of elements
  bool matrix;   // of tensors of rank ≥ 2
  const real* gradients;
  real* parameters;
  std::array<real*, 3> state = {};  // in the order of OptimizerRule::state(), then null
};

// The parameters of an Optimizer. Clients do not need it.
class ParameterSet {
 public:
  virtual ~ParameterSet() = default;
  // Adds arrays of these names, zero at first, to every range: at most 3.
  virtual void add_state(const std::vector<const char*>& names) = 0;
  virtual void zero_grad() = 0;  // every gradient is empty again
  // Returns Σ g² over all gradients of a step. A parameter without a gradient has zeros.
  virtual double sum_of_squared_gradients() = 0;
  // Calls f with every range, which may change its parameters and state.
  virtual void update(const std::function<void(const ParameterRange&)>& f) = 0;
};

// Returns the set of those that require a gradient. Throws InputError if there are none. A build
// links one of two definitions: optim/minimal/parameters.cpp leaves each parameter where it is,
// optim/arena_parameters.cpp moves all into one array.
std::unique_ptr<ParameterSet> parameter_set(std::vector<NamedParameter> parameters);

}  // namespace heed::inline HEED_REAL
