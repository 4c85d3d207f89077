#include "course/grader/training.h"

#include "core/autograd.h"
#include "core/random.h"
#include "core/scope.h"
#include "nn/models.h"
#include "optim/optimizer.h"

namespace heed::course {
namespace {

constexpr int64_t digits = 10, separator = 10, vocabulary = 11, length = 6, batch_size = 16;
constexpr int64_t positions_per_example = 2 * length;

struct Example {
  Inputs inputs;
  Ids targets;
};

// Sequences "3 1 4 1 5 9 |", of which the model continues with "9 5 1 4 1 3". Only these count.
Example reversed_digits(Random& random) {
  const Shape shape{batch_size, positions_per_example};
  Example example{{.input = Ids::empty(shape)}, Ids::full(shape, ignored)};
  for (int64_t b = 0; b < batch_size; ++b) {
    int32_t* const input = example.inputs.input.mutable_data() + b * positions_per_example;
    int32_t* const target = example.targets.mutable_data() + b * positions_per_example;
    for (int64_t t = 0; t < length; ++t) input[t] = static_cast<int32_t>(random.below(digits));
    input[length] = separator;
    for (int64_t t = 0; t < length; ++t) target[length + t] = input[length - 1 - t];
    for (int64_t t = length + 1; t < positions_per_example; ++t) input[t] = target[t - 1];
  }
  return example;
}

ModelOptions small_decoder(const PositionalRule& positions) {
  ModelOptions options;
  options.kind = ModelKind::language_model;
  options.layers = 1;
  options.dim = 32;
  options.heads = 2;
  options.dropout = 0;
  options.positional.kind = &positions;
  options.attention.head_width = HeadWidth::wide;
  options.attention.combine = Combine::weighted;  // which multiplies with mul
  return options;
}

}  // namespace

std::vector<double> train(const PositionalRule& positions) {
  ScopeGuard here;
  here->training = true;
  here->calls = 0;  // the same initial weights in every training
  const auto model = make_model(small_decoder(positions), {.vocabulary = vocabulary});
  Optimizer optimizer({.kind = &optimizers::adam, .lr = 5e-3, .clip_norm = 1}, model->parameters());
  Random random(1, Purpose::task);
  std::vector<double> losses;
  for (int step = 0; step < training_steps; ++step) {
    const Example example = reversed_digits(random);
    constexpr double targets = batch_size * length;
    optimizer.zero_grad();
    const Tensor loss =
        cross_entropy(model->logits(example.inputs), example.targets, Reduction::sum);
    losses.push_back(loss.item() / targets);
    backward(loss);
    optimizer.step(1 / targets);
  }
  return losses;
}

const Training* Training::first = nullptr;

Training::Training(const char* exercise, const PositionalRule& positions_)
    : name(exercise), positions(&positions_), next(first) {
  first = this;
}

}  // namespace heed::course
