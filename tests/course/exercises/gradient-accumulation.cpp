// A wrong answer that the grader of the exercise gradient-accumulation does not know.
#include <doctest/doctest.h>

#include "nn/models.h"
#include "optim/optimizer.h"
#include "tests/course/exercises/graded.h"
#include "tests/course/exercises/samples.h"

using namespace heed;

TEST_CASE("exercise gradient-accumulation: two steps instead of one do not pass") {
  using Step =
      double (*)(const Model&, Optimizer&, const std::vector<Inputs>&, const std::vector<Ids>&);
  const std::string twice =
      course::verdict("gradient_accumulation",
                      [](const Model& model, Optimizer& optimizer,
                         const std::vector<Inputs>& inputs, const std::vector<Ids>& targets) {
                        const auto solution = reinterpret_cast<Step>(
                            course::samples().at("gradient_accumulation").solution.functions[0]);
                        const double loss = solution(model, optimizer, inputs, targets);
                        optimizer.step(0.1);
                        return loss;
                      });
  CHECK_CONTAINS(twice, "after step 1 of three micro-batches");
}
