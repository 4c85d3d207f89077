// The update rules of the optimizers against their definitions in optim/reference.
#include <doctest/doctest.h>

#include <limits>

#include "optim/update_outputs.h"

namespace heed::inline HEED_REAL::testing {

std::vector<std::vector<real>> reference_outputs();

TEST_CASE("every update rule computes what its reference computes") {
  const std::vector<std::vector<real>> fast = kernels::update_outputs(),
                                       reference = reference_outputs();
  REQUIRE(fast.size() == reference.size());
  for (size_t k = 0; k < fast.size(); ++k) {
    CAPTURE(k);
    for (size_t i = 0; i < fast[k].size(); ++i)
      CHECK(fast[k][i] == doctest::Approx(reference[k][i])
                              .epsilon(20 * std::numeric_limits<real>::epsilon())
                              .scale(1));
  }
}

}  // namespace heed::inline HEED_REAL::testing
