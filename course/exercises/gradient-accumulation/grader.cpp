#include "course/grader/grader.h"

#include <cmath>

#include "core/autograd.h"
#include "core/scope.h"
#include "nn/models.h"
#include "optim/optimizer.h"

namespace heed::course {

[[gnu::weak]] double training_step(const Model& model, Optimizer& optimizer,
                                   const std::vector<Inputs>& inputs,
                                   const std::vector<Ids>& targets);

namespace {

// What an answer to the exercise gradient-accumulation may do wrong.
enum class StepSlip {
  none,
  nothing,
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

constexpr std::pair<StepSlip, const char*> step_sentences[] = {
    {StepSlip::nothing, "No parameter changes, and 0 is returned: nothing is computed yet."},
    {StepSlip::zero_each,
     "The gradients are cleared before each micro-batch: only the last one counts. Clear them "
     "once."},
    {StepSlip::never_zero,
     "The gradients of the step before are still there: clear them once, before the loop."},
    {StepSlip::step_each,
     "The optimizer makes a step after each micro-batch. It makes one, at the end."},
    {StepSlip::mean_of_means,
     "Each micro-batch is divided by its own targets, and then the mean is taken. Small "
     "micro-batches count too much: divide once, by the targets of all."},
    {StepSlip::all_positions,
     "This divides by the number of all targets. Those that are `ignored` do not count."},
    {StepSlip::not_divided, "The gradients are sums over the targets: divide by their number."},
    {StepSlip::by_micro_batches,
     "This divides by the number of micro-batches. Divide by the number of targets: the losses "
     "are sums over them."},
    {StepSlip::first_only, "Only the first micro-batch is used."},
    {StepSlip::returns_sum, "The step is right, but the sum of the losses is returned. Divide it."},
    {StepSlip::returns_means,
     "The step is right, but the mean of the means is returned: divide the sum of the losses "
     "once."},
    {StepSlip::returns_0, "The step is right, but the loss is not returned."}};

struct AccumulatedBatches {
  std::vector<Inputs> inputs;
  std::vector<Ids> targets;

  double counted(size_t i) const {
    double count = 0;
    for (int64_t k = 0; k < targets[i].size(); ++k) count += targets[i][k] != ignored;
    return count;
  }
};

double slipped_step(const Model& model, Optimizer& optimizer, const AccumulatedBatches& batches,
                    StepSlip slip) {
  using enum StepSlip;
  if (slip == nothing) return 0;
  const size_t count = slip == first_only ? 1 : batches.inputs.size();
  double targets = 0, loss = 0, means = 0;
  for (size_t i = 0; i < count; ++i)
    targets +=
        slip == all_positions ? static_cast<double>(batches.targets[i].size()) : batches.counted(i);
  const auto micro_batches = static_cast<double>(count);
  if (slip != never_zero) optimizer.zero_grad();
  for (size_t i = 0; i < count; ++i) {
    if (slip == zero_each || slip == step_each) optimizer.zero_grad();
    const Tensor sum = model.loss(batches.inputs[i], batches.targets[i], Reduction::sum);
    loss += sum.item();
    means += sum.item() / batches.counted(i) / micro_batches;
    backward(slip == mean_of_means ? sum / (batches.counted(i) * micro_batches) : sum);
    if (slip == step_each) optimizer.step(1 / batches.counted(i));
  }
  if (slip == mean_of_means || slip == not_divided)
    optimizer.step();
  else if (slip != step_each)
    optimizer.step(1 / (slip == by_micro_batches ? micro_batches : targets));
  if (slip == returns_0) return 0;
  if (slip == returns_sum) return loss;
  return slip == mean_of_means || slip == returns_means ? means : loss / targets;
}

}  // namespace

void grade_gradient_accumulation(Grader& g,
                                 double (*training_step)(const Model& model, Optimizer& optimizer,
                                                         const std::vector<Inputs>& inputs,
                                                         const std::vector<Ids>& targets)) {
  constexpr int64_t vocabulary = 5, steps = 2;
  std::vector<AccumulatedBatches> batches(steps);
  for (AccumulatedBatches& step : batches)
    for (const int64_t examples : {1, 3, 2}) {
      const Shape shape{examples, g.size(3, 5)};
      step.inputs.push_back({.input = g.ids(shape, vocabulary)});
      Ids targets = g.ids(shape, vocabulary);
      targets.mutable_data()[0] = targets.mutable_data()[2] = ignored;
      step.targets.push_back(targets);
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
  const auto train = [&](const auto& step) {
    ScopeGuard here;
    here->seed = g.seed();
    here->calls = 0;
    const auto model = make_model(options, {.vocabulary = vocabulary});
    Optimizer optimizer({.kind = &optimizers::sgd, .lr = 0.2, .clip_norm = 0}, model->parameters());
    Outcome outcome;
    for (const AccumulatedBatches& batch : batches) {
      outcome.losses.push_back(step(*model, optimizer, batch));
      for (const NamedParameter& p : model->parameters())
        outcome.parameters.insert(outcome.parameters.end(), p.tensor.data(),
                                  p.tensor.data() + p.tensor.size());
    }
    return outcome;
  };
  const auto slipped = [&](StepSlip slip) {
    return train([=](const Model& model, Optimizer& optimizer, const AccumulatedBatches& batch) {
      return slipped_step(model, optimizer, batch, slip);
    });
  };
  const auto near = [](double a, double b) {
    return a == b || std::fabs(a - b) <= 1e-9 * std::max(1.0, std::fabs(b));
  };
  const auto same = [&](const std::vector<double>& a, const std::vector<double>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), near);
  };
  const Outcome expected = slipped(StepSlip::none);
  const Outcome got = train([&](const Model& model, Optimizer& optimizer, const auto& batch) {
    return training_step(model, optimizer, batch.inputs, batch.targets);
  });
  if (same(got.losses, expected.losses) && same(got.parameters, expected.parameters)) return;
  std::string sentence;
  for (const auto& [slip, words] : step_sentences) {
    if (!sentence.empty()) break;
    const Outcome wrong = slipped(slip);
    if (same(got.losses, wrong.losses) && same(got.parameters, wrong.parameters)) sentence = words;
  }
  // The parameters alone may tell, too: those of the first step, after which the losses differ.
  for (const auto& [slip, words] : step_sentences)
    if (sentence.empty() && slip < StepSlip::returns_sum &&
        same(got.parameters, slipped(slip).parameters))
      sentence = words;
  for (size_t t = 0; t < batches.size(); ++t) {
    g.expect(near(got.losses[t], expected.losses[t]),
             fmt::format("step {} of three micro-batches: returns {:.6g}, expected {:.6g}", t + 1,
                         got.losses[t], expected.losses[t]),
             sentence);
    const size_t count = expected.parameters.size() / batches.size();
    for (size_t i = t * count; i < (t + 1) * count; ++i)
      g.expect(near(got.parameters[i], expected.parameters[i]),
               fmt::format("after step {} of three micro-batches: parameter {} is {:.6g}, expected "
                           "{:.6g}",
                           t + 1, i % count, got.parameters[i], expected.parameters[i]),
               sentence);
  }
}
HEED_GRADE(gradient_accumulation, training_step);

}  // namespace heed::course
