// The exercise layer-norm: its solution, its stub, and the mistakes that its grader names.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/autograd.h"
#include "core/ops.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_layer_norm(Grader& g, Tensor (*layer_norm)(const Tensor& x, const Tensor& weight,
                                                      const Tensor& bias, real epsilon));

namespace {

namespace layer_norm_stub {
using namespace heed;
#include "course/exercises/layer-norm/exercise.cpp"
}  // namespace layer_norm_stub

enum class NormFault {
  none,
  no_mean,
  rms,
  no_root,
  epsilon_outside,
  no_epsilon,
  unbiased,
  one_pass,
  no_bias,
  no_weight,
  neither,
  bias_first,
  constants,
  constant_scale,
  constant_mean,
  no_scale,
  no_weight_backward,
  sums,
  weight_without_x,
  weight_with_x,
  last_weight,
  last_bias,
  bias_with_weight
};

// The solution, with a fault.
template <NormFault fault>
Tensor faulty_layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, real epsilon) {
  using enum NormFault;
  const int64_t width = x.dim(-1), rows = x.shape().span_size(0, x.rank() - 1);
  const auto d = static_cast<real>(width);
  const Tensor w = weight ? weight : Tensor::full({width}, 1);
  const Tensor b = bias ? bias : Tensor::full({width}, 0);
  Tensor y = Tensor::zeros(x.shape()), mean = Tensor::zeros({rows}), scale = Tensor::zeros({rows});
  real* const to = y.mutable_data();
  for (int64_t n = 0; n < rows; ++n) {
    const real* const row = x.data() + n * width;
    real m = 0, squares = 0;
    for (int64_t i = 0; i < width; ++i) m += row[i] / d;
    const real center = fault == rms || fault == one_pass ? 0 : m;
    for (int64_t i = 0; i < width; ++i) squares += (row[i] - center) * (row[i] - center);
    real variance = squares / (fault == unbiased && width > 1 ? d - 1 : d);
    if (fault == one_pass) variance -= m * m;
    real s = 1 / std::sqrt(variance + (fault == no_epsilon ? 0 : epsilon));
    if (fault == no_root) s = 1 / (variance + epsilon);
    if (fault == epsilon_outside) s = 1 / (std::sqrt(variance) + epsilon);
    for (int64_t i = 0; i < width; ++i) {
      const real x_hat = (row[i] - (fault == no_mean || fault == rms ? 0 : m)) * s;
      const real wi = w.data()[i], bi = b.data()[i];
      to[n * width + i] = fault == no_bias      ? x_hat * wi
                          : fault == no_weight  ? x_hat + bi
                          : fault == neither    ? x_hat
                          : fault == bias_first ? (x_hat + bi) * wi
                                                : x_hat * wi + bi;
    }
    mean.mutable_data()[n] = m;
    scale.mutable_data()[n] = s;
  }
  return record(
      "layer_norm", y, {x, weight, bias},
      [=, xs = Saved(x), ws = Saved(w), ms = Saved(mean), ss = Saved(scale)](Backward& g) {
        const auto x_hat = [&](int64_t n, int64_t i) {
          return (xs.data()[n * width + i] - ms.data()[n]) * ss.data()[n];
        };
        const auto dy = [&](int64_t n, int64_t i) { return g.dy()[n * width + i]; };
        const auto h = [&](int64_t n, int64_t i) {
          return fault == no_weight_backward ? dy(n, i) : dy(n, i) * ws.data()[i];
        };
        const Destination dx = g.into_or_null(0), dw = g.into_or_null(1), db = g.into_or_null(2);
        const auto add = [](const Destination& to_input, int64_t i, real value) {
          to_input.data[i] = to_input.accumulate ? to_input.data[i] + value : value;
        };
        for (int64_t n = 0; n < rows && dx.data; ++n) {
          real mean_h = 0, mean_hx = 0;
          for (int64_t i = 0; i < width; ++i) {
            mean_h += h(n, i) / (fault == sums ? 1 : d);
            mean_hx += h(n, i) * x_hat(n, i) / (fault == sums ? 1 : d);
          }
          if (fault == constants || fault == constant_mean) mean_h = 0;
          if (fault == constants || fault == constant_scale) mean_hx = 0;
          for (int64_t i = 0; i < width; ++i)
            add(dx, n * width + i,
                (fault == no_scale ? 1 : ss.data()[n]) *
                    (h(n, i) - mean_h - x_hat(n, i) * mean_hx));
        }
        for (int64_t i = 0; i < width; ++i) {
          real sum_w = 0, sum_b = 0;
          for (int64_t n = 0; n < rows; ++n) {
            if (fault == last_weight) sum_w = 0;
            if (fault == last_bias) sum_b = 0;
            sum_w += dy(n, i) * (fault == weight_without_x ? 1
                                 : fault == weight_with_x  ? xs.data()[n * width + i]
                                                           : x_hat(n, i));
            sum_b += fault == bias_with_weight ? h(n, i) : dy(n, i);
          }
          if (dw.data) add(dw, i, sum_w);
          if (db.data) add(db, i, sum_b);
        }
      });
}

TEST_CASE("exercise layer-norm: the solution and the library pass") {
  CHECK(graded(grade_layer_norm, faulty_layer_norm<NormFault::none>) == "");
  CHECK(graded(grade_layer_norm, heed::layer_norm) == "");
}

TEST_CASE("exercise layer-norm: the stub and mistakes are named") {
  using enum NormFault;
  CHECK_NAMED("nothing is computed yet", grade_layer_norm, layer_norm_stub::heed::layer_norm);
  CHECK_NAMED("The mean is not subtracted", grade_layer_norm, faulty_layer_norm<no_mean>);
  CHECK_NAMED("This is RMS norm", grade_layer_norm, faulty_layer_norm<rms>);
  CHECK_NAMED("the root is missing", grade_layer_norm, faulty_layer_norm<no_root>);
  CHECK_NAMED("added to the standard deviation", grade_layer_norm,
              faulty_layer_norm<epsilon_outside>);
  CHECK_NAMED("epsilon is not added", grade_layer_norm, faulty_layer_norm<no_epsilon>);
  CHECK_NAMED("divided by D - 1", grade_layer_norm, faulty_layer_norm<unbiased>);
  CHECK_NAMED("in a second pass", grade_layer_norm, faulty_layer_norm<one_pass>);
  CHECK_NAMED("The bias is not added", grade_layer_norm, faulty_layer_norm<no_bias>);
  CHECK_NAMED("The weight is not multiplied", grade_layer_norm, faulty_layer_norm<no_weight>);
  CHECK_NAMED("Neither weight nor bias", grade_layer_norm, faulty_layer_norm<neither>);
  CHECK_NAMED("before the multiplication by the weight", grade_layer_norm,
              faulty_layer_norm<bias_first>);
  CHECK_NAMED("takes mean and scale for constants", grade_layer_norm, faulty_layer_norm<constants>);
  CHECK_NAMED("the path through the scale", grade_layer_norm, faulty_layer_norm<constant_scale>);
  CHECK_NAMED("the path through the mean", grade_layer_norm, faulty_layer_norm<constant_mean>);
  CHECK_NAMED("The factor s", grade_layer_norm, faulty_layer_norm<no_scale>);
  CHECK_NAMED("The weight is missing", grade_layer_norm, faulty_layer_norm<no_weight_backward>);
  CHECK_NAMED("where means are needed", grade_layer_norm, faulty_layer_norm<sums>);
  CHECK_NAMED("This is the sum of dy.", grade_layer_norm, faulty_layer_norm<weight_without_x>);
  CHECK_NAMED("not by x", grade_layer_norm, faulty_layer_norm<weight_with_x>);
  CHECK_NAMED("All rows share the weight", grade_layer_norm, faulty_layer_norm<last_weight>);
  CHECK_NAMED("All rows share the bias", grade_layer_norm, faulty_layer_norm<last_bias>);
  CHECK_NAMED("The bias is added after the weight", grade_layer_norm,
              faulty_layer_norm<bias_with_weight>);
}

}  // namespace
}  // namespace heed::course
