// The exercise bug-in-pooling: its solution, what is shipped, and the mistakes that its grader
// names.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/ops.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_bug_in_pooling(Grader& g, int (*wrong_line)(),
                          Tensor (*pooled_logits)(const Tensor& x, const Ids& length,
                                                  const Tensor& query, const Tensor& head));

namespace {

namespace bug_in_pooling_shipped {
using namespace heed;
#include "course/exercises/bug-in-pooling/exercise.cpp"
}  // namespace bug_in_pooling_shipped

// Pools the positions t < length + more.
template <int more, bool scaled = true>
Tensor pooled_with(const Tensor& x, const Ids& length, const Tensor& query, const Tensor& head) {
  const int64_t batch = x.dim(0), time = x.dim(1), width = x.dim(2);
  const Tensor scores = matmul(x, query.reshape({width, 1})).reshape({batch, time}) /
                        (scaled ? std::sqrt(static_cast<real>(width)) : 1);
  Ids padding = Ids::full({batch, time}, 0);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t t = 0; t < time; ++t) padding.mutable_data()[b * time + t] = t >= length[b] + more;
  const Tensor p = softmax(masked_fill(scores, padding, -std::numeric_limits<real>::infinity()));
  return linear(matmul(p.reshape({batch, 1, time}), x).reshape({batch, width}), head);
}

Tensor pooled_then_masked(const Tensor& x, const Ids& length, const Tensor& query,
                          const Tensor& head) {
  const int64_t batch = x.dim(0), time = x.dim(1), width = x.dim(2);
  const Tensor scores = matmul(x, query.reshape({width, 1})).reshape({batch, time});
  Ids padding = Ids::full({batch, time}, 0);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t t = 0; t < time; ++t) padding.mutable_data()[b * time + t] = t >= length[b];
  const Tensor p =
      masked_fill(softmax(scores / std::sqrt(static_cast<real>(width))), padding, real{0});
  return linear(matmul(p.reshape({batch, 1, time}), x).reshape({batch, width}), head);
}

int pooling_line_found() { return 6; }
int pooling_line_not_found() { return 0; }
int pooling_another_line() { return 8; }

TEST_CASE("exercise bug-in-pooling: the solution passes") {
  CHECK(graded(grade_bug_in_pooling, pooling_line_found, pooled_with<0>) == "");
}

TEST_CASE("exercise bug-in-pooling: what is shipped and mistakes are named") {
  namespace shipped = bug_in_pooling_shipped::heed::course;
  CHECK_NAMED("more than its own positions", grade_bug_in_pooling, shipped::wrong_line,
              shipped::pooled_logits);
  CHECK_NAMED("more than its own positions", grade_bug_in_pooling, pooling_another_line,
              pooled_with<1>);
  CHECK_NAMED("Now repair it", grade_bug_in_pooling, pooling_line_found, shipped::pooled_logits);
  CHECK_NAMED("Which line did you change", grade_bug_in_pooling, pooling_line_not_found,
              pooled_with<0>);
  CHECK_NAMED("it was another line", grade_bug_in_pooling, pooling_another_line, pooled_with<0>);
  CHECK_NAMED("the last position of an example is hidden", grade_bug_in_pooling, pooling_line_found,
              pooled_with<-1>);
  CHECK_NAMED("all positions count", grade_bug_in_pooling, pooling_line_found, pooled_with<100>);
  CHECK_NAMED("counted in the sum", grade_bug_in_pooling, pooling_line_found, pooled_then_masked);
  CHECK_NAMED("that line was right", grade_bug_in_pooling, pooling_line_found,
              (pooled_with<0, false>));
}

}  // namespace
}  // namespace heed::course
