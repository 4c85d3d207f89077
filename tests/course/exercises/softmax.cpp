// The exercise softmax: its solution, its stub, and the mistakes that its grader names.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/autograd.h"
#include "core/ops.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_softmax(Grader& g, Tensor (*softmax)(const Tensor& x, int axis));

namespace {

namespace softmax_stub {
using namespace heed;
#include "course/exercises/softmax/exercise.cpp"
}  // namespace softmax_stub

namespace softmax_solution {
using namespace heed;
#include "tests/course/solutions/softmax.cpp"
}  // namespace softmax_solution

enum class Fault {
  all_elements,
  unstable,
  hidden_line,
  no_sum,
  diagonal,
  no_factor,
  sum_without_y,
  sum_over_all,
  overwrites,
  reads_input,
};

// The gradient and the values, with a fault.
template <Fault fault>
Tensor faulty_softmax(const Tensor& x, int axis) {
  axis = x.shape().axis(axis);
  const int64_t outer = x.shape().span_size(0, axis), length = x.dim(axis);
  const int64_t rest = x.shape().span_size(axis + 1, x.rank());
  const auto for_lines = [=](auto f) {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t r = 0; r < rest; ++r) f(o * length * rest + r);
  };

  Tensor y = Tensor::empty(x.shape());
  const real* const from = x.data();
  real *const to = y.mutable_data(), all = 0;
  for (int64_t i = 0; i < x.size(); ++i) all += std::exp(from[i]);
  for_lines([&](int64_t first) {
    real largest = from[first], total = 0;
    for (int64_t i = 1; i < length; ++i) largest = std::max(largest, from[first + i * rest]);
    if (std::isinf(largest) && fault != Fault::hidden_line) largest = 0;
    if (fault == Fault::unstable || fault == Fault::all_elements) largest = 0;
    for (int64_t i = 0; i < length; ++i)
      total += to[first + i * rest] = std::exp(from[first + i * rest] - largest);
    if (fault == Fault::all_elements) total = all;
    if (total == 0) total = 1;
    for (int64_t i = 0; i < length; ++i) to[first + i * rest] /= total;
  });
  const real* const raw = x.data();
  return record("softmax", y, {x}, [=, ys = saved(y, x)](Backward& g) {
    const Destination dx = g.into(0);
    const real *const dy = g.dy(), *const p = ys.data();
    real everywhere = 0;
    for (int64_t i = 0; i < g.size(); ++i) everywhere += dy[i] * p[i];
    for_lines([&](int64_t first) {
      real mean = 0;
      for (int64_t i = first; i < first + length * rest; i += rest)
        mean += dy[i] * (fault == Fault::sum_without_y ? 1 : p[i]);
      if (fault == Fault::sum_over_all) mean = everywhere;
      for (int64_t i = first; i < first + length * rest; i += rest) {
        real value = p[i] * (dy[i] - mean);
        if (fault == Fault::no_sum) value = p[i] * dy[i];
        if (fault == Fault::diagonal) value = p[i] * dy[i] * (1 - p[i]);
        if (fault == Fault::no_factor) value = dy[i] - mean;
        if (fault == Fault::reads_input) value += raw[i] == 7 ? 1 : 0;
        const bool add = dx.accumulate && fault != Fault::overwrites;
        dx.data[i] = add ? dx.data[i] + value : value;
      }
    });
  });
}

TEST_CASE("exercise softmax: the solution and the library pass") {
  CHECK(graded(grade_softmax, softmax_solution::heed::softmax) == "");
  CHECK(graded(grade_softmax, heed::softmax) == "");
}

TEST_CASE("exercise softmax: the stub and mistakes are named") {
  CHECK_NAMED("nothing is computed yet", grade_softmax, softmax_stub::heed::softmax);
  CHECK_NAMED("not divided by their sum", grade_softmax,
              [](const Tensor& x, int) { return exp(x); });
  CHECK_NAMED("the sum of all elements", grade_softmax, faulty_softmax<Fault::all_elements>);
  CHECK_NAMED("the logarithm", grade_softmax, heed::log_softmax);
  CHECK_NAMED("not along axis", grade_softmax, [](const Tensor& x, int) { return softmax(x, -1); });
  CHECK_NAMED("exp overflows", grade_softmax, faulty_softmax<Fault::unstable>);
  CHECK_NAMED("every element is hidden", grade_softmax, faulty_softmax<Fault::hidden_line>);
  CHECK_NAMED("the term - y Σ dy · y is missing", grade_softmax, faulty_softmax<Fault::no_sum>);
  CHECK_NAMED("the diagonal of the Jacobian", grade_softmax, faulty_softmax<Fault::diagonal>);
  CHECK_NAMED("The factor y is missing", grade_softmax, faulty_softmax<Fault::no_factor>);
  CHECK_NAMED("y (dy - Σ dy)", grade_softmax, faulty_softmax<Fault::sum_without_y>);
  CHECK_NAMED("a sum over all of x", grade_softmax, faulty_softmax<Fault::sum_over_all>);
  CHECK_NAMED("A second loss must add", grade_softmax, faulty_softmax<Fault::overwrites>);
  CHECK_NAMED("reads an argument after it was changed", grade_softmax,
              faulty_softmax<Fault::reads_input>);
}

}  // namespace
}  // namespace heed::course
