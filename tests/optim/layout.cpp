// An optimizer takes the same steps whether every tensor stays where it is, as in the minimal
// build, or all are in an arena.
#include "optim/layout.h"

#include "optim/five_steps.h"

using namespace heed;

TEST_CASE("separate parameters: steps are those of an arena") {
  OptimOptions sgd, adam, adamw;
  sgd.kind = &optimizers::sgd;
  sgd.momentum = 0.9;
  adam.kind = &optimizers::adam;
  adam.amsgrad = true;
  adamw.weight_decay = 0.1;
  sgd.clip_norm = adam.clip_norm = adamw.clip_norm = 1;
  for (const OptimOptions& options : {sgd, adam, adamw}) {
    CAPTURE(std::string(options.kind->name));
    const FiveSteps arena = five_steps<Optimizer>(options), separate = separate_five_steps(options);
    for (size_t t = 0; t < 5; ++t)
      CHECK(separate.norms[t] == doctest::Approx(arena.norms[t]).epsilon(1e-12));
    for (size_t p = 0; p < arena.parameters.size(); ++p) {
      const Tensor &a = arena.parameters[p].tensor, &b = separate.parameters[p].tensor;
      for (int64_t i = 0; i < a.size(); ++i)
        CHECK(b.data()[i] == doctest::Approx(a.data()[i]).epsilon(1e-5));
    }
  }
}
