// Targets that are numbers, and inputs that are vectors, from the trainer to predictions.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "apps/cost/summary.h"
#include "apps/inference/predictions.h"
#include "apps/inference/scores.h"
#include "apps/inference/vocabulary_file.h"
#include "apps/support/files.h"
#include "apps/training/trainer.h"
#include "core/random.h"
#include "temporary.h"

using namespace heed;

namespace {

constexpr float no_number = std::numeric_limits<float>::quiet_NaN();

// Points of a line of its own each, y = w x: x₀ w x₀ x₁ w x₁ …, with a target at each x.
Dataset regression_lines(const ExampleFormat& format, int64_t size, bool whole) {
  return feature_dataset(format, size, [=](int64_t i, Example& example) {
    Random random(static_cast<uint64_t>(i) + 1, Purpose::task);
    const auto w = static_cast<float>(random.normal());
    example.features.clear();
    example.values.clear();
    for (int64_t point = 0; point < 3 + i % 3; ++point) {
      const auto x = static_cast<float>(random.normal());
      for (const float value : {x, 0.0F, 0.0F, w * x}) example.features.push_back(value);
      for (const float value : {w * x, no_number}) example.values.push_back(value);
    }
    if (whole) example.values.assign(1, w);
  });
}

struct Regression {
  Experiment experiment;
  Corpus corpus;

  explicit Regression(ModelKind kind, Pool pool = Pool::mean) {
    experiment.data.kind = &data_kinds::examples;
    experiment.train.steps = 150;
    experiment.train.batch_size = 16;
    experiment.model.kind = kind;
    experiment.model.pool = pool;
    experiment.model.layers = 1;
    experiment.model.dim = 32;
    experiment.model.heads = 2;
    experiment.optim.lr = 3e-3;
    corpus.framing = kind;
    corpus.format = {.features = 2, .numbers = true, .at_positions = pool == Pool::none};
    corpus.longest_input = 10;
    const bool whole = kind == ModelKind::classifier && pool != Pool::none;
    corpus.splits["train"] = regression_lines(corpus.format, 2000, whole);
    corpus.splits["val"] = regression_lines(corpus.format, 45, whole);
  }
  Regression(const Regression&) = delete;
  Regression& operator=(const Regression&) = delete;
};

}  // namespace

TEST_CASE("numbers: each kind of model learns them; its scores are the mean squared error and R²") {
  for (const auto& [kind, pool] : {std::pair(ModelKind::language_model, Pool::mean),
                                   std::pair(ModelKind::classifier, Pool::mean),
                                   std::pair(ModelKind::classifier, Pool::none)}) {
    Regression task(kind, pool);
    Trainer trainer(task.experiment, task.corpus);
    const double first = trainer.step().loss;
    double last = 0;
    for (int64_t i = 1; i < task.experiment.train.steps; ++i) last = trainer.step().loss;
    CHECK(last < first);
    const SplitScores result = score_split(trainer.model(), task.corpus, task.experiment, "val",
                                           {.details = true, .predictions = true});
    CHECK(result.scores.values.size() == 2);
    double errors = 0, sum = 0, squares = 0, count = 0;
    for (size_t i = 0; i < result.predictions.size(); ++i) {
      const Prediction& each = result.predictions[i];
      REQUIRE(each.numbers.size() == each.expected_numbers.size());
      double own = 0;
      for (size_t t = 0; t < each.numbers.size(); ++t) {
        const double y = each.expected_numbers[t];
        if (std::isnan(y)) continue;
        own += (each.numbers[t] - y) * (each.numbers[t] - y);
        sum += y, squares += y * y, ++count;
      }
      CHECK(result.outcomes[i].loss == doctest::Approx(own).epsilon(1e-5));
      errors += own;
    }
    const double variance = squares / count - sum / count * sum / count;
    CHECK(*result.scores.targets == static_cast<int64_t>(count));
    const double loss = *result.scores.find(scores::loss);
    CHECK(loss == doctest::Approx(errors / count).epsilon(1e-5));
    CHECK(*result.scores.find(scores::r2) == doctest::Approx(1 - loss / variance).epsilon(1e-5));
    CHECK(*result.scores.find(scores::r2) > (kind == ModelKind::classifier ? 0.5 : 0.1));
    CHECK(result.predictions[0].source == "[6 vectors]");
  }
}

TEST_CASE("numbers: a summary counts the head of one output, and its memory") {
  Regression task(ModelKind::language_model);
  const Summary summary = summarize(task.experiment, task.corpus);
  const auto model = make_model(task.experiment, task.corpus);
  CHECK(summary.parameters == model->parameter_count());
  CHECK(model->head().weight.shape() == Shape{1, 32});
  CHECK(summary.memory.evaluation > 0);
}

TEST_CASE("numbers: vocabulary.json has the form of inputs and outputs") {
  const TemporaryFolder folder;
  for (const auto& [kind, pool] : {std::pair(ModelKind::language_model, Pool::mean),
                                   std::pair(ModelKind::classifier, Pool::none)}) {
    const Regression task(kind, pool);
    write_file(folder / "vocabulary.json", vocabulary_text(task.corpus));
    const Corpus read = read_vocabulary(folder / "vocabulary.json", kind);
    CHECK(read.format.features == 2);
    CHECK(read.format.numbers);
    CHECK(read.format.at_positions == (pool == Pool::none));
    CHECK_FALSE(read.target);
    CHECK(vocabulary_text(read) == vocabulary_text(task.corpus));
  }
}

TEST_CASE("numbers: settings that are for other targets are refused in one line") {
  const auto message = [](const auto& change) {
    Regression task(ModelKind::classifier);
    change(task);
    return thrown<InputError>([&] { Trainer(task.experiment, task.corpus); });
  };
  CHECK_CONTAINS(message([](Regression& r) { r.experiment.train.label_smoothing = 0.1; }),
                 "`train.label_smoothing` = 0.1 is for targets that are tokens or labels");
  CHECK_CONTAINS(
      message([](Regression& r) { r.experiment.train.best_by = &scores::token_accuracy; }),
      "`train.best_by` = \"token_accuracy\": targets that are numbers have no such score; choose "
      "one of loss, r2");
  CHECK_CONTAINS(message([](Regression& r) { r.experiment.model.pool = Pool::none; }),
                 "`model.pool` = \"none\" is for data with a target at every position, and these "
                 "have one for the whole example");
  CHECK_CONTAINS(message([](Regression& r) { r.corpus.format.at_positions = true; }),
                 "these have one: set it");
}
