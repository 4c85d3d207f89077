// The exercise adam: its solution, its stub, and the mistakes that its grader names.
#include <doctest/doctest.h>

#include <cmath>

#include "optim/kernels/kernels.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_adam(Grader& g, void (*adam_step)(const UpdateRange& range));

namespace {

namespace adam_stub {
using namespace heed;
#include "course/exercises/adam/exercise.cpp"
}  // namespace adam_stub

enum class AdamFault {
  none,
  no_correction,
  no_first,
  no_second,
  from_0,
  stored,
  no_square,
  no_root,
  no_mean,
  epsilon_in_root,
  epsilon_early,
  no_epsilon,
  swapped,
  ascent,
  unscaled,
  no_decay,
  always_l2,
  always_decoupled,
  decay_without_lr,
  decay_after,
  halves_m
};

// The solution, with a fault.
template <AdamFault fault>
void faulty_adam(const UpdateRange& r) {
  using enum AdamFault;
  const bool adamw = r.options.kind == &optimizers::adamw;
  const bool decoupled = (adamw || fault == always_decoupled) && fault != always_l2;
  const double lambda = fault == no_decay ? 0 : r.weight_decay;
  const double beta1 = fault == swapped ? r.options.beta2 : r.options.beta1;
  const double beta2 = fault == swapped ? r.options.beta1 : r.options.beta2;
  const auto t = static_cast<double>(r.step - (fault == from_0 ? 1 : 0));
  const double keep1 = fault == no_correction || fault == no_first ? 0 : std::pow(beta1, t);
  const double keep2 = fault == no_correction || fault == no_second ? 0 : std::pow(beta2, t);
  for (int64_t i = 0; i < r.size; ++i) {
    double &w = r.parameters[i], &m = r.state[0][i], &v = r.state[1][i];
    double g = r.gradients[i] * (fault == unscaled ? 1 : r.gradient_scale);
    if (!decoupled) g += lambda * w;
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * (fault == no_square ? 1 : g);
    const double mean = fault == no_mean ? g : m / (1 - keep1), square = v / (1 - keep2);
    double divisor = std::sqrt(square) + (fault == no_epsilon ? 0 : r.options.epsilon);
    if (fault == no_root) divisor = square + r.options.epsilon;
    if (fault == epsilon_in_root) divisor = std::sqrt(square + r.options.epsilon);
    if (fault == epsilon_early) divisor = (std::sqrt(v) + r.options.epsilon) / std::sqrt(1 - keep2);
    if (fault == stored) m = mean, v = square;
    if (fault == halves_m) m /= 2;
    const double old = w;
    w -= (fault == ascent ? -r.lr : r.lr) * mean / divisor;
    if (!decoupled) continue;
    w -= (fault == decay_without_lr ? 1 : r.lr) * lambda * (fault == decay_after ? w : old);
  }
}

TEST_CASE("exercise adam: the solution and the library pass") {
  CHECK(graded(grade_adam, faulty_adam<AdamFault::none>) == "");
  CHECK(graded(grade_adam, heed::kernels::adam_step) == "");
}

TEST_CASE("exercise adam: the stub and mistakes are named") {
  using enum AdamFault;
  CHECK_NAMED("nothing is computed yet", grade_adam, adam_stub::heed::kernels::adam_step);
  CHECK_NAMED("The bias correction is missing", grade_adam, faulty_adam<no_correction>);
  CHECK_NAMED("The correction of m is missing", grade_adam, faulty_adam<no_first>);
  CHECK_NAMED("The correction of v is missing", grade_adam, faulty_adam<no_second>);
  CHECK_NAMED("t counts from 1", grade_adam, faulty_adam<from_0>);
  CHECK_NAMED("the next step corrects them again", grade_adam, faulty_adam<stored>);
  CHECK_NAMED("It must be one of g²", grade_adam, faulty_adam<no_square>);
  CHECK_NAMED("The square root of v is missing", grade_adam, faulty_adam<no_root>);
  CHECK_NAMED("It must be its running mean m", grade_adam, faulty_adam<no_mean>);
  CHECK_NAMED("ε is added under the root", grade_adam, faulty_adam<epsilon_in_root>);
  CHECK_NAMED("before the correction", grade_adam, faulty_adam<epsilon_early>);
  CHECK_NAMED("ε is not used", grade_adam, faulty_adam<no_epsilon>);
  CHECK_NAMED("are exchanged", grade_adam, faulty_adam<swapped>);
  CHECK_NAMED("goes up the gradient", grade_adam, faulty_adam<ascent>);
  CHECK_NAMED("gradient_scale is not used", grade_adam, faulty_adam<unscaled>);
  CHECK_NAMED("The weight decay is missing", grade_adam, faulty_adam<no_decay>);
  CHECK_NAMED("This is Adam's weight decay", grade_adam, faulty_adam<always_l2>);
  CHECK_NAMED("This is AdamW's weight decay", grade_adam, faulty_adam<always_decoupled>);
  CHECK_NAMED("the factor lr is missing", grade_adam, faulty_adam<decay_without_lr>);
  CHECK_NAMED("The decay uses the new w", grade_adam, faulty_adam<decay_after>);
  CHECK(graded(grade_adam, faulty_adam<halves_m>) != "");
}

}  // namespace
}  // namespace heed::course
