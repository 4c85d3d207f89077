// The exercise multiply-backward: its solution, its stub, and the mistakes that its grader names.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "core/autograd.h"
#include "core/ops.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_multiply_backward(Grader& g, Tensor (*mul)(const Tensor& a, const Tensor& b));

namespace {

namespace multiply_backward_stub {
using namespace heed;
#include "course/exercises/multiply-backward/exercise.cpp"
}  // namespace multiply_backward_stub

using multiply_backward_stub::heed::element;

enum class ProductFault {
  none,
  own_factor,
  no_factor,
  no_dy,
  last_only,
  first_only,
  mean,
  overwrites,
  one_question,
  sum
};

// The solution, with a fault.
template <ProductFault fault>
Tensor faulty_mul(const Tensor& a, const Tensor& b) {
  using enum ProductFault;
  const Shape shape = broadcast("mul", a.shape(), b.shape());
  Tensor y = Tensor::empty(shape);
  real* const to = y.mutable_data();
  for (int64_t i = 0; i < shape.size(); ++i) {
    const real p = a.data()[element(i, shape, a.shape())],
               q = b.data()[element(i, shape, b.shape())];
    to[i] = fault == sum ? p + q : p * q;
  }
  return record("mul", y, {a, b}, [=, as = Saved(a), bs = Saved(b)](Backward& g) {
    const auto give = [&](int k, const Saved& own, const Saved& other) {
      const Destination to_own = g.into(k);
      const int64_t n = own.shape().size();
      if (!to_own.accumulate || fault == overwrites) std::fill_n(to_own.data, n, real{0});
      std::vector<bool> seen(static_cast<size_t>(n));
      for (int64_t i = 0; i < g.size(); ++i) {
        const int64_t at = element(i, shape, own.shape());
        const real v = own.data()[at], w = other.data()[element(i, shape, other.shape())],
                   dy = g.dy()[i];
        real value = dy * w;
        if (fault == own_factor) value = dy * v;
        if (fault == no_factor) value = dy;
        if (fault == no_dy) value = w;
        if (fault == mean) value /= static_cast<real>(shape.size() / n);
        if (fault == last_only && !to_own.accumulate) to_own.data[at] = 0;
        if (fault != first_only || !seen[static_cast<size_t>(at)]) to_own.data[at] += value;
        seen[static_cast<size_t>(at)] = true;
      }
    };
    if (g.wants(0)) give(0, as, bs);
    if (g.wants(1) && (fault != one_question || g.wants(0))) give(1, bs, as);
  });
}

TEST_CASE("exercise multiply-backward: the solution and the library pass") {
  CHECK(graded(grade_multiply_backward, faulty_mul<ProductFault::none>) == "");
  CHECK(graded(grade_multiply_backward, heed::mul) == "");
  const Tensor a = Grader(1).tensor({2, 1, 3}, -1, 1), b = Grader(2).tensor({4, 1}, -1, 1);
  const Tensor apart = sub(multiply_backward_stub::heed::mul(a, b), heed::mul(a, b));
  CHECK(max(heed::mul(apart, apart)).item() == 0);  // what the stub has computes the product
}

TEST_CASE("exercise multiply-backward: the stub and mistakes are named") {
  using enum ProductFault;
  CHECK_NAMED("Every element of this gradient is 0", grade_multiply_backward,
              multiply_backward_stub::heed::mul);
  CHECK_NAMED("the sum a + b", grade_multiply_backward, faulty_mul<sum>);
  CHECK_NAMED("the derivative of a · b by a is b", grade_multiply_backward, faulty_mul<own_factor>);
  CHECK_NAMED("the factor b is missing", grade_multiply_backward, faulty_mul<no_factor>);
  CHECK_NAMED("the factor dy is missing", grade_multiply_backward, faulty_mul<no_dy>);
  CHECK_NAMED("only the last time counts", grade_multiply_backward, faulty_mul<last_only>);
  CHECK_NAMED("only the first time counts", grade_multiply_backward, faulty_mul<first_only>);
  CHECK_NAMED("the mean over the broadcast axes", grade_multiply_backward, faulty_mul<mean>);
  CHECK_NAMED("A second loss must add", grade_multiply_backward, faulty_mul<overwrites>);
  CHECK_NAMED("ask g.wants(i) for each argument", grade_multiply_backward,
              faulty_mul<one_question>);
}

}  // namespace
}  // namespace heed::course
