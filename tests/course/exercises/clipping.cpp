// Limits and norms at which clipping does nothing, for the grader of the exercise clipping.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/course/exercises/graded.h"

using namespace heed;

namespace {

// Adds epsilon to the norm, as PyTorch does, and lets be what these say.
template <bool not_finite, bool zero_limit, bool zero_norm>
double clip(std::vector<Tensor>& gradients, double limit) {
  double squares = 0;
  for (const Tensor& gradient : gradients)
    for (const double x : gradient.values()) squares += x * x;
  const double norm = std::sqrt(squares), epsilon = zero_norm ? 0 : 1e-6;
  if ((!std::isfinite(norm) && !not_finite) || (limit == 0 && !zero_limit)) return norm;
  if (norm <= limit && !(norm == 0 && zero_norm)) return norm;
  for (Tensor& gradient : gradients)
    for (int64_t i = 0; i < gradient.size(); ++i)
      gradient.mutable_data()[i] *= limit / (norm + epsilon);
  return norm;
}

}  // namespace

TEST_CASE("exercise clipping: an epsilon passes, and limits are named") {
  CHECK(course::verdict("clipping", clip<false, false, false>) == "");
  CHECK_SAYS("A limit of 0", "clipping", clip<false, true, false>);
  CHECK_SAYS("not finite must be returned", "clipping", clip<true, false, false>);
  CHECK_SAYS("0 / 0 is not a number", "clipping", clip<false, false, true>);
}
