#include "course/grader/grader.h"

#include <algorithm>

#include "core/autograd.h"
#include "course/grader/training.h"
#include "nn/forms/positional.h"

namespace heed::course {

void grade_multiply_backward(Grader& g, Tensor (*answer)(const Tensor& a, const Tensor& b)) {
  const auto check = [&](const Shape& a, const Shape& b) {
    g.check({.name = fmt::format("product of a {} and b {}", a, b),
             .inputs = {a, b},
             .result = heed::broadcast("mul", a, b),
             .op = [=](Tensors x) { return answer(x[0], x[1]); },
             .definition = [](Arrays x, const Index& i) { return x[0](i) * x[1](i); },
             .arguments = {"a", "b"}});
  };
  const int64_t n = g.size(2, 4), m = g.size(2, 4), k = g.size(2, 3);
  check({n, m}, {n, m});
  check({n, 1}, {n});  // both have n elements: an index of the other one is wrong, but not outside
  check({m}, {n, m});
  check({n, m}, {m});
  check({n, 1, k}, {m, 1});
  check({}, {n, m});
  check({k, 1, 1}, {});
}
namespace {
namespace multiply_backward_answers {

enum class Slip { none, own_factor, no_factor, own_index, no_dy, last_only, first_only, mean, sum };
enum { a, b };

// The solution, but for the gradient of one argument. It does not multiply tensors: that is what a
// learner's program replaces.
template <Slip slip, int wrong>
Tensor product(const Tensor& x, const Tensor& y) {
  const Shape shape = broadcast("mul", x.shape(), y.shape());
  Tensor z = Tensor::empty(shape);
  for (int64_t i = 0; i < shape.size(); ++i) {
    const Index at = index_of(shape, i);
    const double v = x.data()[broadcast_at(x.shape(), at)],
                 w = y.data()[broadcast_at(y.shape(), at)];
    z.mutable_data()[i] = slip == Slip::sum ? v + w : v * w;
  }
  const auto backward = [=, xs = saved(x, y), ys = saved(y, x), shape_x = x.shape(),
                         shape_y = y.shape()](Backward& g) {
    const auto give = [&](int k, const Saved& own, const Saved& other, const Shape& own_shape,
                          const Shape& other_shape) {
      const Slip own_slip = k == wrong ? slip : Slip::none;
      const int64_t n = own_shape.size();
      const Destination to = slot_to_add_to(g.into(k), n);
      std::vector<bool> seen(static_cast<size_t>(n));
      for (int64_t i = 0; i < shape.size(); ++i) {
        const Index index = index_of(shape, i);
        const int64_t at = broadcast_at(own_shape, index);
        const double dy = own_slip == Slip::no_dy ? 1 : g.dy()[i];
        const double factor = own_slip == Slip::own_factor  ? own.data()[at]
                              : own_slip == Slip::no_factor ? 1
                              : own_slip == Slip::own_index
                                  ? other.data()[at]
                                  : other.data()[broadcast_at(other_shape, index)];
        const double uses = own_slip == Slip::mean ? static_cast<double>(shape.size() / n) : 1;
        if (own_slip == Slip::last_only && !to.accumulate) to.data[at] = 0;
        if (own_slip != Slip::first_only || !seen[static_cast<size_t>(at)])
          to.data[at] += dy * factor / uses;
        seen[static_cast<size_t>(at)] = true;
      }
    };
    if (g.wants(a)) give(a, xs, ys, shape_x, shape_y);
    if (g.wants(b)) give(b, ys, xs, shape_y, shape_x);
  };
  return record("mul", z, {x, y}, backward);
}

const Exercise multiply_backward_exercise(
    "multiply_backward", grade_multiply_backward, {mul},
    {{"", product<Slip::none, a>},
     {"This is the sum a + b.", product<Slip::sum, a>},
     {"This is dy · a: the derivative of a · b by a is b.", product<Slip::own_factor, a>},
     {"This is dy · b: the derivative of a · b by b is a.", product<Slip::own_factor, b>},
     {"This is dy: the factor b is missing.", product<Slip::no_factor, a>},
     {"This is dy: the factor a is missing.", product<Slip::no_factor, b>},
     {"This reads b at the index of a: element i of y used element(i, shape, shape_b) of b.",
      product<Slip::own_index, a>},
     {"This reads a at the index of b: element i of y used element(i, shape, shape_a) of a.",
      product<Slip::own_index, b>},
     {"This is b: the factor dy is missing, the gradient that arrives at y.",
      product<Slip::no_dy, a>},
     {"This is a: the factor dy is missing, the gradient that arrives at y.",
      product<Slip::no_dy, b>},
     {"This is the gradient without the sum over the broadcast axes: an element of a was used "
      "several times, and only the last time counts.",
      product<Slip::last_only, a>},
     {"This is the gradient without the sum over the broadcast axes: an element of b was used "
      "several times, and only the last time counts.",
      product<Slip::last_only, b>},
     {"This is the gradient without the sum over the broadcast axes: an element of a was used "
      "several times, and only the first time counts.",
      product<Slip::first_only, a>},
     {"This is the gradient without the sum over the broadcast axes: an element of b was used "
      "several times, and only the first time counts.",
      product<Slip::first_only, b>},
     {"This is the mean over the broadcast axes. Gradients of several uses add up: it is a sum.",
      product<Slip::mean, a>},
     {"This is the mean over the broadcast axes. Gradients of several uses add up: it is a sum.",
      product<Slip::mean, b>}});
HEED_TRAIN(multiply_backward, positional_encodings::relative);

}  // namespace multiply_backward_answers
}  // namespace
}  // namespace heed::course
