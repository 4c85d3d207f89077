// What only running shows of answers to the exercise multiply-backward.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/autograd.h"
#include "tests/course/exercises/graded.h"
#include "tests/course/exercises/samples.h"

using namespace heed;

namespace {

using Product = Tensor (*)(const Tensor&, const Tensor&);

// The product of equal shapes, whose backward overwrites what is there, or asks for both arguments
// at once.
template <bool overwrites>
Tensor equal_product(const Tensor& a, const Tensor& b) {
  return record("mul", mul(a, b).detach(), {a, b}, [=, as = Saved(a), bs = Saved(b)](Backward& g) {
    const auto give = [&](int k, const Saved& other) {
      const Destination to = g.into(k);
      if (!to.accumulate || overwrites) std::fill_n(to.data, g.size(), real{0});
      for (int64_t i = 0; i < g.size(); ++i) to.data[i] += g.dy()[i] * other.data()[i];
    };
    if (g.wants(0)) give(0, bs);
    if (g.wants(1) && (overwrites || g.wants(0))) give(1, as);
  });
}

}  // namespace

TEST_CASE("exercise multiply-backward: the library passes, and what is shipped has its values") {
  CHECK(course::verdict("multiply_backward", Product{mul}) == "");
  const auto shipped = course::shipped_of<Product>("multiply_backward");
  const Tensor a = course::Grader(1).tensor({2, 1, 3}, -1, 1),
               b = course::Grader(2).tensor({4, 1}, -1, 1);
  CHECK(course::largest_difference(shipped(a, b), mul(a, b)) == 0);
}

TEST_CASE("exercise multiply-backward: a wrong destination is named") {
  CHECK_SAYS("A second loss must add", "multiply_backward", equal_product<true>);
  CHECK_SAYS("ask g.wants(i) for each argument", "multiply_backward", equal_product<false>);
}
