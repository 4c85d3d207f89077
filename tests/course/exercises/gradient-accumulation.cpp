// The exercise gradient-accumulation: its solution, its stub, and the mistakes that its grader
// names.
#include <doctest/doctest.h>

#include "core/autograd.h"
#include "nn/models.h"
#include "optim/optimizer.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_gradient_accumulation(Grader& g,
                                 double (*training_step)(const Model& model, Optimizer& optimizer,
                                                         const std::vector<Inputs>& inputs,
                                                         const std::vector<Ids>& targets));

namespace {

namespace accumulation_stub {
using namespace heed;
#include "course/exercises/gradient-accumulation/exercise.cpp"
}  // namespace accumulation_stub

enum class AccumulationFault {
  none,
  zero_each,
  never_zero,
  step_each,
  means,
  all_positions,
  not_divided,
  by_micro_batches,
  first_only,
  returns_sum,
  returns_means,
  returns_0,
  double_step
};

// The solution, with a fault.
template <AccumulationFault fault>
double faulty_training_step(const Model& model, Optimizer& optimizer,
                            const std::vector<Inputs>& inputs, const std::vector<Ids>& targets) {
  using enum AccumulationFault;
  double loss = 0, count = 0, sum_of_means = 0;
  const size_t used = fault == first_only ? 1 : inputs.size();
  if (fault != never_zero) optimizer.zero_grad();
  for (size_t i = 0; i < used; ++i) {
    double own = 0;
    for (int64_t k = 0; k < targets[i].size(); ++k)
      own += fault == all_positions || targets[i][k] != ignored;
    count += own;
    if (fault == zero_each || fault == step_each) optimizer.zero_grad();
    const Tensor sum = model.loss(inputs[i], targets[i], Reduction::sum);
    loss += sum.item();
    sum_of_means += sum.item() / own;
    backward(fault == means ? sum / own : sum);
    if (fault == step_each) optimizer.step(1 / own);
  }
  const auto micro_batches = static_cast<double>(inputs.size());
  if (fault == means || fault == by_micro_batches)
    optimizer.step(1 / micro_batches);
  else if (fault == not_divided)
    optimizer.step();
  else if (fault != step_each)
    optimizer.step(1 / count);
  if (fault == double_step) optimizer.step(1 / count);
  if (fault == returns_0) return 0;
  if (fault == returns_sum) return loss;
  return fault == means || fault == returns_means ? sum_of_means / micro_batches : loss / count;
}

TEST_CASE("exercise gradient-accumulation: the solution passes") {
  CHECK(graded(grade_gradient_accumulation, faulty_training_step<AccumulationFault::none>) == "");
}

TEST_CASE("exercise gradient-accumulation: the stub and mistakes are named") {
  using enum AccumulationFault;
  const auto grade = grade_gradient_accumulation;
  CHECK_NAMED("nothing is computed yet", grade, accumulation_stub::heed::course::training_step);
  CHECK_NAMED("only the last one counts", grade, faulty_training_step<zero_each>);
  CHECK_NAMED("the step before are still there", grade, faulty_training_step<never_zero>);
  CHECK_NAMED("It makes one, at the end", grade, faulty_training_step<step_each>);
  CHECK_NAMED("and then the mean is taken", grade, faulty_training_step<means>);
  CHECK_NAMED("the number of all targets", grade, faulty_training_step<all_positions>);
  CHECK_NAMED("divide by their number", grade, faulty_training_step<not_divided>);
  CHECK_NAMED("the number of micro-batches", grade, faulty_training_step<by_micro_batches>);
  CHECK_NAMED("Only the first micro-batch", grade, faulty_training_step<first_only>);
  CHECK_NAMED("the sum of the losses is returned", grade, faulty_training_step<returns_sum>);
  CHECK_NAMED("the mean of the means is returned", grade, faulty_training_step<returns_means>);
  CHECK_NAMED("the loss is not returned", grade, faulty_training_step<returns_0>);
  CHECK(graded(grade, faulty_training_step<double_step>) != "");
}

}  // namespace
}  // namespace heed::course
