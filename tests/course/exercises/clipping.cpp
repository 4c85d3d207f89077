// The exercise clipping: its solution, its stub, and the mistakes that its grader names.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/tensor.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_clipping(Grader& g,
                    double (*clip_gradients)(std::vector<Tensor>& gradients, double limit));

namespace {

namespace clipping_stub {
using namespace heed;
#include "course/exercises/clipping/exercise.cpp"
}  // namespace clipping_stub

void scale_gradient(Tensor& gradient, double by) {
  for (int64_t i = 0; i < gradient.size(); ++i) gradient.mutable_data()[i] *= by;
}

double sum_of_squares(const Tensor& gradient) {
  double sum = 0;
  for (int64_t i = 0; i < gradient.size(); ++i) sum += gradient.data()[i] * gradient.data()[i];
  return sum;
}

enum class ClipFault {
  none,
  with_epsilon,
  no_clip,
  always,
  inverse,
  to_1,
  returns_after,
  returns_factor,
  returns_0,
  no_root,
  sum,
  largest,
  mean,
  no_zero_limit,
  not_finite
};

// The solution, with a fault.
template <ClipFault fault>
double faulty_clip(std::vector<Tensor>& gradients, double limit) {
  using enum ClipFault;
  double squares = 0, total = 0, most = 0, count = 0;
  for (const Tensor& gradient : gradients) {
    squares += sum_of_squares(gradient);
    for (const double x : gradient.values()) {
      total += std::fabs(x);
      most = std::max(most, std::fabs(x));
      count += 1;
    }
  }
  const double norm = fault == no_root   ? squares
                      : fault == sum     ? total
                      : fault == largest ? most
                      : fault == mean    ? std::sqrt(squares / count)
                                         : std::sqrt(squares);
  const double returned = fault == returns_0 ? 0 : norm;
  if (fault == no_clip || (!std::isfinite(norm) && fault != not_finite)) return returned;
  if (limit == 0 && fault != no_zero_limit) return returned;
  if (norm <= limit && fault != always && fault != to_1) return returned;
  const double by = fault == inverse        ? norm / limit
                    : fault == to_1         ? std::min(1.0, 1 / norm)
                    : fault == with_epsilon ? limit / (norm + 1e-6)
                                            : limit / norm;
  for (Tensor& gradient : gradients) scale_gradient(gradient, by);
  if (fault == returns_factor) return by;
  return fault == returns_after ? norm * by : returned;
}

TEST_CASE("exercise clipping: the solution passes") {
  CHECK(graded(grade_clipping, faulty_clip<ClipFault::none>) == "");
  CHECK(graded(grade_clipping, faulty_clip<ClipFault::with_epsilon>) == "");
}

TEST_CASE("exercise clipping: the stub and mistakes are named") {
  using enum ClipFault;
  CHECK_NAMED("nothing is computed yet", grade_clipping,
              clipping_stub::heed::course::clip_gradients);
  CHECK_NAMED("The gradients are not changed", grade_clipping, faulty_clip<no_clip>);
  CHECK_NAMED(
      "a norm of its own", grade_clipping, [](std::vector<Tensor>& gradients, double limit) {
        double squares = 0;
        for (Tensor& gradient : gradients) {
          squares += sum_of_squares(gradient);
          scale_gradient(gradient, std::min(1.0, limit / std::sqrt(sum_of_squares(gradient))));
        }
        return std::sqrt(squares);
      });
  CHECK_NAMED("Each element is clipped", grade_clipping,
              [](std::vector<Tensor>& gradients, double limit) {
                double squares = 0;
                for (Tensor& gradient : gradients) {
                  squares += sum_of_squares(gradient);
                  for (int64_t i = 0; i < gradient.size(); ++i)
                    gradient.mutable_data()[i] = std::clamp(gradient.data()[i], -limit, limit);
                }
                return std::sqrt(squares);
              });
  CHECK_NAMED("always scaled to the limit", grade_clipping, faulty_clip<always>);
  CHECK_NAMED("It is limit / norm", grade_clipping, faulty_clip<inverse>);
  CHECK_NAMED("whatever the limit", grade_clipping, faulty_clip<to_1>);
  CHECK_NAMED("It must be the one before", grade_clipping, faulty_clip<returns_after>);
  CHECK_NAMED("It must be the norm", grade_clipping, faulty_clip<returns_factor>);
  CHECK_NAMED("the norm is not returned", grade_clipping, faulty_clip<returns_0>);
  CHECK_NAMED("The square root of the sum", grade_clipping, faulty_clip<no_root>);
  CHECK_NAMED("the sum of the absolute values", grade_clipping, faulty_clip<sum>);
  CHECK_NAMED("the largest absolute value", grade_clipping, faulty_clip<largest>);
  CHECK_NAMED("the root of the mean", grade_clipping, faulty_clip<mean>);
  CHECK_NAMED("A limit of 0", grade_clipping, faulty_clip<no_zero_limit>);
  CHECK_NAMED("not finite must be returned", grade_clipping, faulty_clip<not_finite>);
  CHECK_NAMED("0 / 0 is not a number", grade_clipping,
              [](std::vector<Tensor>& gradients, double limit) {
                double squares = 0;
                for (const Tensor& gradient : gradients) squares += sum_of_squares(gradient);
                const double norm = std::sqrt(squares);
                if (limit > 0 && (norm > limit || norm == 0))
                  for (Tensor& gradient : gradients) scale_gradient(gradient, limit / norm);
                return norm;
              });
}

}  // namespace
}  // namespace heed::course
