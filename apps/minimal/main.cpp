// Trains a Transformer to reverse or to sort, from the first random weight to the test. This is all
// there is: docs/reading.md lists the files that this program is made of, in the order to read
// them.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/autograd.h"
#include "core/check.h"
#include "core/scope.h"
#include "data/batch.h"
#include "data/generated.h"
#include "nn/transformer.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"

using namespace heed;

struct Experiment {
  ModelKind framing;
  SequenceTask task;
  SplitFractions held_out;
  ModelOptions model = {};
  OptimOptions optim;
  ScheduleOptions schedule;
  int64_t steps, batch_size, bucketing = 1;
};

static constexpr uint64_t seed = 1;  // of the data, the initial weights and the training

// The encoder-decoder of configs/reverse.toml (Vaswani et al. 2017).
static Experiment reverse() {
  Experiment e{.framing = ModelKind::seq2seq,
               .task = reverse_task(50, {1, 25}),
               .held_out = {.val = 0.1, .test = 0.1},
               .optim = {.lr = 2e-3, .clip_norm = 1, .beta2 = 0.98},
               .schedule = {.kind = &schedules::cosine, .warmup_steps = 300, .min_lr = 2e-5},
               .steps = 5000,
               .batch_size = 32,
               .bucketing = 16};
  e.model.layers = 2;
  e.model.dim = 64;
  e.model.heads = 4;
  e.model.feed_forward = 256;
  e.model.share_embeddings = true;
  return e;
}

// The decoder-only model of configs/sort.toml (Radford et al. 2019).
static Experiment sort() {
  Experiment e{.framing = ModelKind::language_model,
               .task = sort_task(3, {6, 6}),
               .held_out = {.val = 0.05, .test = 0.25},
               .optim = {.lr = 1e-3, .weight_decay = 0.1, .clip_norm = 1, .beta2 = 0.95},
               .schedule = {.kind = &schedules::cosine, .warmup_steps = 50, .min_lr = 1e-5},
               .steps = 1500,
               .batch_size = 64};
  e.model.layers = e.model.heads = 3;
  e.model.dim = 48;
  e.model.activation = Activation::gelu;
  e.model.tie_weights = false;
  e.model.positional.kind = &positional_encodings::learned;
  e.model.positional.max_length = 11;  // 6 numbers and 6 sorted ones, of which the last is no input
  e.model.init.kind = InitKind::gpt2;
  return e;
}

// Today's usual model: RMSNorm, rotary positions, SwiGLU, no biases, and a little dropout. It sorts
// lists of one to six digits.
static Experiment usual() {
  Experiment e = sort();
  e.task = sort_task(10, {1, 6});
  e.bucketing = 16;
  e.optim.lr = 2e-3;
  e.model.activation = swiglu;
  e.model.norm.kind = NormKind::rms;
  e.model.positional.kind = &positional_encodings::rotary;
  e.model.bias = false;
  e.model.dropout = 0.05;
  return e;
}

static std::unique_ptr<Model> make_model(const Experiment& e, int64_t vocabulary) {
  ScopeGuard here;
  here->seed = seed;
  const ModelSizes sizes{.source_vocabulary = vocabulary, .vocabulary = vocabulary};
  if (e.framing == ModelKind::seq2seq) return std::make_unique<Seq2Seq>(e.model, sizes);
  return std::make_unique<LanguageModel>(e.model, sizes);
}

// The most likely token of row n of logits (…, vocab).
static int32_t most_likely(const Tensor& logits, int64_t n) {
  const real* const row = logits.data() + n * logits.dim(-1);
  return static_cast<int32_t>(std::max_element(row, row + logits.dim(-1)) - row);
}

// The fraction of examples in which the most likely token is right at every target. Because no
// position sees a later input, these are the examples that greedy generation gets right.
static double exact_match(const Model& model, const Dataset& data, const Experiment& e) {
  Batches batches = Batches::in_order(data, e.framing, 1);
  Batch one;
  int64_t right = 0;
  for (int64_t i = 0; i < data.size; ++i) {
    batches.get(i, one);
    const Tensor logits = model.logits(one);
    bool all = true;
    for (int64_t n = 0; n < one.target.size(); ++n)
      all = all && (one.target[n] == ignored || one.target[n] == most_likely(logits, n));
    right += all;
  }
  return static_cast<double>(right) / static_cast<double>(data.size);
}

// Generates greedily: appends the most likely token to the prompt, as often as there are targets.
static void show(const Model& model, const Vocabulary& vocabulary, const Dataset& data, int64_t i) {
  Example example;
  data.get(i, example);
  const auto ids = [](const std::vector<int32_t>& list) {
    return list.empty() ? Ids() : Ids::from({1, std::ssize(list)}, list);
  };
  const auto text = [&](const std::vector<int32_t>& list) {
    std::string words;
    for (const int32_t id : list) words += vocabulary.token(id) + " ";
    return words;
  };
  std::vector<int32_t> expected = example.target, input = example.input, generated;
  std::erase(expected, ignored);
  input.resize(input.size() - expected.size() + 1);  // the prompt
  const std::string question = text(example.source.empty() ? input : example.source);
  while (generated.size() < expected.size()) {
    const Tensor logits = model.logits({.source = ids(example.source), .input = ids(input)});
    generated.push_back(most_likely(logits, std::ssize(input) - 1));
    input.push_back(generated.back());
  }
  fmt::print("{}→ {} ({})\n", question, text(generated), generated == expected ? "right" : "wrong");
}

static void run(const Experiment& e, int64_t steps) {
  const bool one_length = e.task.lengths.least == e.task.lengths.most;
  const Vocabulary vocabulary = task_vocabulary(e.task.tokens, e.framing, one_length);
  const auto split = [&](Split which) {
    return generated(e.task, Layout(e.framing, vocabulary), {seed, e.held_out, which});
  };
  const auto train = split(Split::train), test = split(Split::test);
  const std::unique_ptr<Model> model = make_model(e, vocabulary.size());
  Optimizer optimizer(e.optim, model->parameters());
  const Schedule schedule(e.schedule, e.optim.lr, e.steps);
  Batches batches = Batches::shuffled(train, e.framing, e.batch_size, seed, e.bucketing);
  fmt::print("{} parameters, {} steps\n", model->parameter_count(), steps);

  Batch batch;
  for (int64_t step = 1; step <= steps; ++step) {
    ScopeGuard here;  // the random numbers of a step depend only on the seed and the step
    here->training = true;
    here->seed = seed;
    here->step = static_cast<uint32_t>(step);
    here->calls = 0;
    batches.get(step - 1, batch);
    optimizer.zero_grad();
    const Tensor loss = model->loss(batch, batch.target);  // mean over the targets
    backward(loss);
    optimizer.set_lr(schedule.rate(step));
    const double norm = optimizer.step();
    if (step <= 20 || step % 100 == 0 || step == steps)
      fmt::print("step {:4}  loss {:.6f}  gradient norm {:.6f}\n", step, loss.item(), norm);
  }

  NoGradients here;
  for (int64_t i = 0; i < 3; ++i) show(*model, vocabulary, test, i);
  fmt::print("test: {:.4f} of {} examples right\n", exact_match(*model, test, e), test.size);
}

static constexpr const char* help =
    "minimal EXPERIMENT [STEPS]: trains a Transformer on one thread, then tests it\n\n"
    "  reverse   an encoder-decoder writes a list backwards: configs/reverse.toml\n"
    "  sort      a decoder-only model sorts six numbers: configs/sort.toml\n"
    "  usual     a decoder-only model as is usual today sorts up to six digits\n\n"
    "STEPS ends the training early, with the learning rates of the whole training.\n";

int main(int argc, char** argv) try {
  const std::string_view name = argc > 1 ? argv[1] : "--help", count = argc > 2 ? argv[2] : "";
  if (name == "--help") return fmt::print("{}", help), 0;
  const auto make = name == "reverse" ? reverse : name == "sort" ? sort : usual;
  check_input(make != usual || name == "usual", "no experiment \"{}\", see --help", name);
  const Experiment e = make();
  int64_t steps = e.steps;
  const char* const end = count.data() + count.size();
  const bool is_number = count.empty() || std::from_chars(count.data(), end, steps).ptr == end;
  check_input(argc <= 3 && is_number && steps >= 1, "STEPS: expected one number, at least 1");
  run(e, steps);
} catch (const Error& error) {
  fmt::print(stderr, "minimal: {}\n", error.what());
  return dynamic_cast<const InputError*>(&error) ? 2 : 1;  // 2: a mistake of the user
}
