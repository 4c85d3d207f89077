// What only running shows of answers to the exercise softmax.
#include <doctest/doctest.h>

#include <cmath>

#include "core/autograd.h"
#include "tests/course/exercises/graded.h"

using namespace heed;

namespace {

// Along the last axis, with a backward that overwrites what is there, or reads its input.
template <bool overwrites>
Tensor softmax_of_rows(const Tensor& x, int) {
  const Tensor y = softmax(x, -1).detach();
  const real* const input = x.data();
  return record("softmax", y, {x}, [=, ys = saved(y, x)](Backward& g) {
    const Destination dx = g.into(0);
    const int64_t width = x.dim(-1);
    for (int64_t i = 0; i < g.size(); ++i) {
      real mean = 0;
      for (int64_t k = i / width * width; k < (i / width + 1) * width; ++k)
        mean += g.dy()[k] * ys.data()[k];
      real value = ys.data()[i] * (g.dy()[i] - mean);
      if (!overwrites) value += input[i] == 7 ? 1 : 0;
      dx.data[i] = value + (dx.accumulate && !overwrites ? dx.data[i] : 0);
    }
  });
}

}  // namespace

TEST_CASE("exercise softmax: the library passes") {
  CHECK(course::verdict("softmax", softmax) == "");
}

TEST_CASE("exercise softmax: overflow, hidden lines and a wrong backward are named") {
  CHECK_SAYS("exp overflows", "softmax", [](const Tensor& x, int axis) {
    const Tensor total = sum(exp(x), {axis}, true);
    return exp(x) / total;
  });
  CHECK_SAYS("If every element of a line is hidden", "softmax", [](const Tensor& x, int axis) {
    const Tensor e = exp(x - max(x, {axis}, true));
    return e / sum(e, {axis}, true);
  });
  CHECK_SAYS("A second loss must add", "softmax", softmax_of_rows<true>);
  CHECK_SAYS("reads an argument after it was changed", "softmax", softmax_of_rows<false>);
}
