#include "course/grader/grader.h"

#include "core/autograd.h"
#include "core/scope.h"
#include "nn/models.h"
#include "optim/optimizer.h"

namespace heed::course {

[[gnu::weak]] double training_step(const Model& model, Optimizer& optimizer,
                                   const std::vector<Inputs>& inputs,
                                   const std::vector<Ids>& targets);

namespace {
namespace gradient_accumulation_answers {

// What an answer may do wrong.
enum class Slip {
  none,
  zero_each,
  never_zero,
  step_each,
  mean_of_means,
  all_positions,
  not_divided,
  by_micro_batches,
  first_only,
  returns_sum,
  returns_means,
  returns_0
};

template <Slip slip>
double accumulated(const Model& model, Optimizer& optimizer, const std::vector<Inputs>& inputs,
                   const std::vector<Ids>& targets) {
  using enum Slip;
  const size_t count = slip == first_only ? 1 : inputs.size();
  const auto micro_batches = static_cast<double>(count);
  double all_targets = 0, loss = 0, means = 0;
  if (slip != never_zero) optimizer.zero_grad();
  for (size_t i = 0; i < count; ++i) {
    double own = 0;
    for (int64_t k = 0; k < targets[i].size(); ++k)
      own += slip == all_positions || targets[i][k] != ignored;
    all_targets += own;
    if (slip == zero_each || slip == step_each) optimizer.zero_grad();
    const Tensor sum = model.loss(inputs[i], targets[i], Reduction::sum);
    loss += sum.item();
    means += sum.item() / own / micro_batches;
    backward(slip == mean_of_means ? sum / (own * micro_batches) : sum);
    if (slip == step_each) optimizer.step(1 / own);
  }
  if (slip == mean_of_means || slip == not_divided)
    optimizer.step();
  else if (slip != step_each)
    optimizer.step(1 / (slip == by_micro_batches ? micro_batches : all_targets));
  if (slip == returns_0) return 0;
  if (slip == returns_sum) return loss;
  return slip == mean_of_means || slip == returns_means ? means : loss / all_targets;
}

}  // namespace gradient_accumulation_answers
}  // namespace

void grade_gradient_accumulation(Grader& g, decltype(&training_step) answer) {
  constexpr int64_t vocabulary = 5;
  struct Batch {
    std::vector<Inputs> inputs;
    std::vector<Ids> targets;
  };
  std::vector<Batch> batches(2);
  for (Batch& batch : batches)
    for (const int64_t examples : {1, 3, 2}) {
      const Shape shape{examples, g.size(3, 5)};
      batch.inputs.push_back({.input = g.ids(shape, vocabulary)});
      Ids targets = g.ids(shape, vocabulary);
      targets.mutable_data()[0] = targets.mutable_data()[2] = ignored;
      batch.targets.push_back(targets);
    }
  ModelOptions options;
  options.kind = ModelKind::language_model;
  options.layers = 1;
  options.dim = 4;
  options.heads = 1;
  options.feed_forward = 4;

  struct Outcome {
    std::vector<double> losses, parameters;  // after each step
  };
  // Trains a fresh model with a step.
  const auto train = [&](decltype(answer) step) {
    ScopeGuard here;
    here->seed = g.seed();
    here->calls = 0;
    const auto model = make_model(options, {.vocabulary = vocabulary});
    Optimizer optimizer({.kind = &optimizers::sgd, .lr = 0.2, .clip_norm = 0}, model->parameters());
    Outcome outcome;
    for (const Batch& batch : batches) {
      outcome.losses.push_back(step(*model, optimizer, batch.inputs, batch.targets));
      for (const NamedParameter& p : model->parameters())
        outcome.parameters.insert(outcome.parameters.end(), p.tensor.data(),
                                  p.tensor.data() + p.tensor.size());
    }
    return outcome;
  };
  using namespace gradient_accumulation_answers;
  const Outcome got = train(answer), expected = train(accumulated<Slip::none>);
  const size_t count = expected.parameters.size() / batches.size();
  g.check(Numbers{.what =
                      [&](size_t i) {
                        return fmt::format("parameter {} after step {} of three micro-batches",
                                           i % count, i / count + 1);
                      },
                  .got = got.parameters,
                  .expected = expected.parameters});
  g.check(Numbers{.what =
                      [](size_t i) {
                        return fmt::format("the loss that step {} of three micro-batches returns",
                                           i + 1);
                      },
                  .got = got.losses,
                  .expected = expected.losses});
}

namespace {
namespace gradient_accumulation_answers {

const Exercise gradient_accumulation_exercise(
    "gradient_accumulation", grade_gradient_accumulation, {training_step},
    {{"", accumulated<Slip::none>},
     {"No parameter changes: nothing is computed yet, or the optimizer makes no step.",
      [](const Model&, Optimizer&, const std::vector<Inputs>&, const std::vector<Ids>&) {
        return 0.0;
      }},
     {"The gradients are cleared before each micro-batch: only the last one counts. Clear them "
      "once.",
      accumulated<Slip::zero_each>},
     {"The gradients of the previous step are still there: clear them once, before the loop.",
      accumulated<Slip::never_zero>},
     {"The optimizer makes a step after each micro-batch. It makes one, at the end.",
      accumulated<Slip::step_each>},
     {"Each micro-batch is divided by its own number of targets, and then averaged. Small "
      "micro-batches count too much: divide once, by the number of all targets.",
      accumulated<Slip::mean_of_means>},
     {"This divides by the number of all targets. Those that are `ignored` do not count.",
      accumulated<Slip::all_positions>},
     {"The gradients are sums over the targets: divide by their number.",
      accumulated<Slip::not_divided>},
     {"This divides by the number of micro-batches. Divide by the number of targets: the losses "
      "are sums over them.",
      accumulated<Slip::by_micro_batches>},
     {"Only the first micro-batch is used.", accumulated<Slip::first_only>},
     {"The step is right, but the sum of the losses is returned. Divide it.",
      accumulated<Slip::returns_sum>},
     {"The step is right, but the mean of the means is returned: divide the sum of the losses "
      "once.",
      accumulated<Slip::returns_means>},
     {"The step is right, but the loss is not returned.", accumulated<Slip::returns_0>}});

}  // namespace gradient_accumulation_answers
}  // namespace
}  // namespace heed::course
