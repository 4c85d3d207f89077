// How the parameters of an Optimizer lie in memory: in an arena, and the arrays of its rule in the
// same layout.
#pragma once

#include <string>
#include <vector>

#include "optim/arena_state.h"
#include "optim/optimizer.h"

namespace heed::inline HEED_REAL {

// What Optimizer::layout() returns: `optimizer.layout().arena` has the arrays of its parameters and
// gradients.
struct Optimizer::Layout {
  Layout(std::vector<NamedParameter> parameters, std::vector<std::string> names)
      : arena(std::move(parameters)), state(arena, std::move(names)) {}

  Arena arena;       // of parameters and gradients
  ArenaState state;  // of the rule: exp_avg.<parameter> and so on
};

}  // namespace heed::inline HEED_REAL
