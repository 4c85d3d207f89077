// Compares ten training steps with PyTorch, from the same weights (tests/fixtures/make_curve.py).
// Covers the model, the loss, the gradients of two micro-batches, clipping, AdamW and the schedule.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "apps/training/arrays.h"
#include "apps/training/trainer.h"

using namespace heed;

namespace {

constexpr double tolerance = 1e-5;  // relative; heed computes in float, PyTorch in double

class LossCurve {
 public:
  explicit LossCurve(const std::string& name)
      : path((std::filesystem::path(__FILE__).parent_path().parent_path() / "fixtures" /
              ("curve_" + name + ".safetensors"))
                 .string()),
        file_(path) {}

  std::vector<double> values(const std::string& name) const { return read<double>(name); }
  // Returns the rows of an array of ids without the padding of -1, or no rows if there is no array.
  std::vector<std::vector<int32_t>> rows(const std::string& name) const {
    std::vector<std::vector<int32_t>> rows;
    if (!file_.find(name)) return rows;
    const std::vector<int32_t> ids = read<int32_t>(name);
    const auto width = static_cast<size_t>(file_.find(name)->dims[1]);
    for (size_t at = 0; at < ids.size(); at += width) {
      rows.emplace_back(ids.data() + at, ids.data() + at + width);
      while (!rows.back().empty() && rows.back().back() < 0) rows.back().pop_back();
    }
    return rows;
  }

  const std::string path;

 private:
  template <class Value>
  std::vector<Value> read(const std::string& name) const {
    const NamedArray* array = file_.find(name);
    REQUIRE_MESSAGE(array, path << " has no " << name);
    std::vector<Value> values(static_cast<size_t>(array->bytes()) / sizeof(Value));
    file_.read(*array, values.data());
    return values;
  }
  SafetensorsFile file_;
};

Dataset examples_of(const LossCurve& curve) {
  const auto source = curve.rows("data.source"), input = curve.rows("data.input"),
             target = curve.rows("data.target");
  return {std::ssize(input), [=](int64_t i, Example& example) {
            const auto row = static_cast<size_t>(i);
            example.source = source.empty() ? std::vector<int32_t>() : source[row];
            example.input = input[row];
            example.target = target[row];
          }};
}

std::shared_ptr<const TextCodec> codec(int64_t vocabulary) {
  std::vector<std::string> tokens;
  for (int64_t i = 0; i < vocabulary; ++i) tokens.push_back(std::to_string(i));
  return std::make_shared<TextCodec>(Level::word, std::move(tokens));
}

// Returns the options common to both models.
Experiment experiment(ModelKind kind) {
  Experiment e;
  e.model.kind = kind;
  e.model.dim = 32;
  e.model.heads = 4;
  e.model.feed_forward = 64;
  e.model.final_norm = Choice::yes;
  e.train.steps = 10;
  // Each step reads all eight examples, so their order does not matter.
  e.train.batch_size = 4;
  e.train.accumulate = 2;
  e.train.label_smoothing = 0.1;
  e.optim.lr = 0.01;
  e.optim.weight_decay = 0.1;
  e.optim.beta2 = 0.95;
  e.optim.clip_norm = 1;
  e.schedule.kind = &schedules::cosine;
  e.schedule.warmup_steps = 3;
  e.schedule.min_lr = 0.001;
  return e;
}

void check_curve(const std::string& name, const Experiment& e, int64_t source_tokens) {
  const LossCurve curve(name);
  Corpus corpus;
  corpus.framing = e.model.kind;
  corpus.source = codec(source_tokens);
  corpus.target = codec(11);
  corpus.splits["train"] = examples_of(curve);
  corpus.longest_source = corpus.longest_input = 12;
  Trainer trainer(e, corpus);
  load_weights(curve.path, {"*"}, trainer.model().parameters(), {});
  const std::vector<double> losses = curve.values("losses"), norms = curve.values("norms");
  REQUIRE(losses.size() == 10);
  for (size_t step = 0; step < losses.size(); ++step) {
    CAPTURE(name);
    CAPTURE(step);
    const StepReport report = trainer.step();
    CHECK(std::abs(report.loss - losses[step]) <= tolerance * losses[step]);
    CHECK(std::abs(report.gradient_norm - norms[step]) <= tolerance * norms[step]);
  }
}

}  // namespace

TEST_CASE("ten training steps of a language model match PyTorch") {
  Experiment e = experiment(ModelKind::language_model);
  e.model.activation = Activation::gelu;
  e.model.norm_first = true;
  e.model.positional.kind = &positional_encodings::learned;
  e.model.positional.max_length = 12;
  check_curve("language_model", e, 11);
}

TEST_CASE("ten training steps of an encoder-decoder match PyTorch") {
  Experiment e = experiment(ModelKind::seq2seq);
  e.model.activation = Activation::relu;
  e.model.norm_first = false;
  e.model.positional.kind = &positional_encodings::sinusoidal;
  e.model.tie_weights = false;
  check_curve("seq2seq", e, 9);
}
