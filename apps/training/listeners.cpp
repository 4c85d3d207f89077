#include "apps/training/listeners.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "apps/inference/scores.h"
#include "apps/support/clock.h"
#include "apps/support/log.h"
#include "apps/support/machine.h"
#include "apps/support/numbers.h"
#include "apps/support/together.h"
#include "apps/support/version.h"
#include "apps/training/step_statistics.h"
#include "core/check.h"
#include "core/ops.h"
#include "core/precision.h"

namespace heed {
namespace {

double per(double amount, double seconds) { return seconds > 0 ? amount / seconds : 0; }

class Progress : public TrainingListener {
 public:
  using TrainingListener::TrainingListener;

  void after_step(const StepReport& report) override {
    const int64_t done = training_.step(), steps = training_.experiment.train.steps;
    const double left =
        per(training_.elapsed(), static_cast<double>(done)) * static_cast<double>(steps - done);
    logging::show({done, steps, report.loss, training_.tokens_per_second(), left});
  }
  void end() override { logging::hide_progress(); }
};

// The row of metrics and the line of the log about the steps since the last one.
class StepLog : public TrainingListener {
 public:
  using TrainingListener::TrainingListener;

  void after_step(const StepReport& report) override {
    tokens_ += report.tokens;
    seconds_ += report.seconds;
    if (!training_.due(training_.experiment.train.log_every)) return;
    write(report);
    tokens_ = 0;
    seconds_ = 0;
    training_.state.loss_sum = 0;
    training_.state.loss_count = 0;
  }

 private:
  void write(const StepReport& report) {
    const int64_t step = training_.step();
    const LoopState& state = training_.state;
    const double loss =
        state.loss_sum / static_cast<double>(std::max<int64_t>(1, state.loss_count));
    const double tokens_per_s = per(static_cast<double>(tokens_), seconds_);
    training_.write_row(Json::object()
                            .set("step", step)
                            .set("loss", loss)
                            .set("lr", report.lr)
                            .set("gradient_norm", report.gradient_norm)
                            .set("tokens_per_s", std::round(tokens_per_s))
                            .set("seconds", to_milliseconds(training_.elapsed())));
    logging::info("step {:>{}}  loss {}  learning rate {:.3g}  {:.0f} tokens/s{}", step,
                  std::to_string(training_.experiment.train.steps).size(), four_digits(loss),
                  report.lr, tokens_per_s, waiting());
  }
  // Returns how much of the time data.command has let the training wait, if that is worth a word.
  std::string waiting() {
    if (!training_.corpus.seconds_waited) return "";
    const double all = training_.corpus.seconds_waited();
    const double part = per(all - std::exchange(waited_, all), seconds_);
    return part < 0.01 ? "" : fmt::format(", {:.0f} % of it waiting for examples", 100 * part);
  }

  // Since the last row, in this process.
  int64_t tokens_ = 0;
  double seconds_ = 0;
  double waited_ = 0;  // for examples, until the last row
};

// Counts the rows of attention weights that sum_normalize() sets to zero, in all threads of the
// steps, and warns of them.
class RowsWithoutSum : public TrainingListener, public Observer {
 public:
  explicit RowsWithoutSum(TrainingContext& training) : TrainingListener(training) {
    training.trainer.observe(*this);
  }

  void after_step(const StepReport&) override {
    if (!training_.due(training_.experiment.train.log_every)) return;
    const std::vector<int64_t> counts = from_all_ranks(rows_.exchange(0));
    const int64_t rows = std::accumulate(counts.begin(), counts.end(), int64_t{0});
    if (rows > 0)
      logging::warning("{} rows of attention weights had a sum within {} of 0 and were set to zero",
                       rows, min_row_sum);
  }
  void op_finished(const char* name, const Tensor& y, std::span<const Tensor> /*inputs*/,
                   const Node* /*node*/) override {
    if (name != std::string_view("sum_normalize")) return;
    const int64_t width = y.dim(-1);
    const real* const end = y.data() + y.size();
    int64_t rows = 0;
    for (const real* row = y.data(); row < end; row += width)
      rows += row[0] == 0 && std::count(row, row + width, real{0}) == width;
    rows_ += rows;
  }

 private:
  std::atomic<int64_t> rows_ = 0;  // since the last warning, in this process
};

// train.statistics
class Statistics : public TrainingListener {
 public:
  explicit Statistics(TrainingContext& training)
      : TrainingListener(training),
        statistics_(training.experiment, training.corpus, training.trainer) {}

  void before_step() override {
    if (training_.due_at(training_.step() + 1, training_.experiment.train.log_every))
      statistics_.before_step();
  }
  void after_step(const StepReport& report) override {
    if (!training_.due(training_.experiment.train.log_every)) return;
    training_.trainer.optimizer().layout().arena.gather_gradients();
    if (training_.writer)
      training_.write_row(Json::object()
                              .set("step", training_.step())
                              .set("statistics", statistics_.measure(report)));
  }

 private:
  StepStatistics statistics_;
};

class Evaluation : public TrainingListener {
 public:
  using TrainingListener::TrainingListener;

  Order order() const override { return Order::evaluation; }
  void after_step(const StepReport&) override {
    if (training_.due_evaluation()) evaluate();
  }

 private:
  void evaluate();
};

void Evaluation::evaluate() {
  if (!training_.corpus.splits.contains("val")) return;
  const int64_t step = training_.step();
  LoopState& state = training_.state;
  const AveragedWeights average(training_.trainer);
  for (const NamedParameter& weights : training_.trainer.model().parameters())
    check(all_finite(weights.tensor.values()), "step {}: {} has become infinite or NaN{}{}", step,
          weights.name, training_.remedy(), training_.intact());
  ScopeGuard here;
  here->step = static_cast<uint32_t>(step);
  const Score& best_by = *training_.experiment.train.best_by;
  const auto scores_of = [&](const std::string& split) {
    return score_split(training_.trainer.model(), training_.corpus, training_.experiment, split,
                       {.outputs = best_by.reads_outputs})
        .scores;
  };
  const Scores scores = scores_of("val");
  const double loss = scores.values.at(&scores::loss);
  check(std::isfinite(loss), "step {}: the validation loss is {}{}{}", step, number_in_words(loss),
        training_.remedy(), training_.intact());
  if (auto& plateau = training_.trainer.plateau()) plateau->observe(loss);
  const double score = scores.values.at(&best_by);
  if (std::isfinite(score) &&
      (state.best_step == 0 ||
       (best_by.lower_is_better ? score < state.best_score : score > state.best_score))) {
    state.best_step = step;
    state.best_score = score;
    state.evaluations_since_best = 0;
  } else {
    ++state.evaluations_since_best;
  }
  Json row = Json::object().set("step", step).set("val", scores.json());
  for (const std::string& split : training_.experiment.train.evaluate_splits)
    if (split != "val") row.set(split, scores_of(split).json());
  training_.write_row(row.set("seconds", to_milliseconds(training_.elapsed())));
  const Score& shown = training_.corpus.format.numbers         ? scores::r2
                       : has_exact_match(training_.experiment) ? scores::exact_match
                                                               : scores::token_accuracy;
  std::string line = fmt::format("step {}  validation: loss {}", step, four_digits(loss));
  if (const auto value = scores.find(shown))
    line += fmt::format(", {} {}", shown.title, score_text(shown, *value));
  if (state.best_step == step)
    logging::good("{}  (best)", line);
  else
    logging::info("{}", line);
  if (training_.writer)
    for (const Prediction& sample : training_.samples("val")) logging::sample(sample_text(sample));
}

// train.snapshots. Before the checkpoint of the same step: a run that resumes from it has them.
class SnapshotWriter : public TrainingListener {
 public:
  using TrainingListener::TrainingListener;

  Order order() const override { return Order::checkpoint; }
  void after_step(const StepReport&) override {
    const int64_t step = training_.step(), keep = training_.experiment.train.snapshots;
    if (keep == 0 || !Snapshots::is_due(step)) return;
    const AveragedWeights average(training_.trainer);  // which all processes gather
    if (training_.writer)
      training_.writer->snapshot(step, training_.trainer.model().parameters(), keep,
                                 training_.binding.metadata);
  }
};

// After every evaluation, or every train.checkpoint_every steps and at the best evaluation.
class CheckpointWriter : public TrainingListener {
 public:
  using TrainingListener::TrainingListener;

  Order order() const override { return Order::checkpoint; }
  void after_step(const StepReport&) override {
    const TrainOptions& train = training_.experiment.train;
    const bool evaluation = training_.due_evaluation();
    const bool best = evaluation && training_.state.best_step == training_.step();
    if (best || training_.due(train.checkpoint_every) ||
        (evaluation && train.checkpoint_every == 0))
      training_.save();
  }
  void end() override {
    if (training_.step() > 0) training_.save();
  }
};

class EarlyStop : public TrainingListener {
 public:
  using TrainingListener::TrainingListener;

  Order order() const override { return Order::stop; }
  bool stops() const override {
    const int64_t patience = training_.experiment.train.patience;
    return patience > 0 && training_.state.evaluations_since_best >= patience;
  }
  void end() override {
    if (stops())
      logging::info("stopped at step {}: {} evaluations in a row without improvement",
                    training_.step(), training_.experiment.train.patience);
  }
};

}  // namespace

TrainingContext::TrainingContext(const Experiment& e, const Corpus& c, RunWriter* w)
    : experiment(e),
      corpus(c),
      writer(w),
      trainer(e, c),
      binding(binding_of(e, c, trainer.model().parameters())),
      started(now()) {}

bool TrainingContext::due_at(int64_t at, int64_t every) const {
  return at == experiment.train.steps || (every > 0 && at % every == 0);
}

bool TrainingContext::due_evaluation() const {
  return step() == experiment.train.steps || experiment.train.evaluates_at(step());
}

double TrainingContext::elapsed() const { return seconds_before + now() - started; }

double TrainingContext::tokens_per_second() const {
  return per(static_cast<double>(state.tokens), state.step_seconds);
}

void TrainingContext::write_row(const Json& row) {
  if (!writer) return;
  writer->row(row);
  if (on_row) on_row(row);
}

void TrainingContext::save() {
  if (writer) writer->check_held();
  if (std::exchange(saved_step, step()) == step()) return;
  const AveragedWeights average(trainer);
  const std::vector<NamedParameter> arrays = trainer.state();
  if (!writer) return;
  state.seconds = elapsed();
  Json schedule = Json::object();
  if (const auto& plateau = trainer.plateau())
    for (const auto& [name, value] : plateau->state()) schedule.set(name, value);
  Json saved = Json::object()
                   .set("step", step())
                   .set("optimizer_steps", trainer.optimizer().steps())
                   .set("schedule", std::move(schedule))
                   .set("training", state.json())
                   .set("data", corpus.fingerprint)
                   .set("settings", binding.settings)
                   .set("vocabulary", binding.vocabulary)
                   .set("processor", processor_name())
                   .set("kernels", program_kernels)
                   .set("precision", precision_name(effective_precision(experiment.precision)));
  writer->save(step(), trainer.model().parameters(), arrays, std::move(saved), state.best_step,
               binding.metadata);
}

std::string TrainingContext::intact() const { return writer ? writer->checkpoints().intact() : ""; }

std::string TrainingContext::remedy() const {
  const OptimOptions& optim = experiment.optim;
  const bool divides_by_zero = optim.kind != &optimizers::sgd && optim.epsilon == 0;
  return fmt::format("; {}lower optim.lr ({}), raise schedule.warmup_steps ({}){}",
                     divides_by_zero ? "raise optim.epsilon (0), " : "", optim.lr,
                     experiment.schedule.warmup_steps,
                     optim.clip_norm > 0 ? "" : ", or set optim.clip_norm = 1");
}

std::vector<Prediction> TrainingContext::samples(const std::string& split) const {
  ScopeGuard here;
  const Alone alone;  // rank 0 computes them
  return predictions(trainer.model(), corpus, corpus.splits.at(split), experiment.train.samples,
                     learned_positions(experiment.model));
}

TrainingListeners standard_listeners(TrainingContext& training) {
  TrainingListeners all;
  all.push_back(std::make_unique<Progress>(training));
  all.push_back(std::make_unique<StepLog>(training));
  if (training.experiment.model.attention.normaliser == &normalisers::sum)
    all.push_back(std::make_unique<RowsWithoutSum>(training));
  if (training.experiment.train.statistics) all.push_back(std::make_unique<Statistics>(training));
  all.push_back(std::make_unique<Evaluation>(training));
  all.push_back(std::make_unique<SnapshotWriter>(training));
  all.push_back(std::make_unique<CheckpointWriter>(training));
  all.push_back(std::make_unique<EarlyStop>(training));
  return all;
}

void add_listener(TrainingListeners& listeners, std::unique_ptr<TrainingListener> listener) {
  const auto next = std::ranges::find_if(
      listeners, [&](const auto& one) { return one->order() > listener->order(); });
  listeners.insert(next, std::move(listener));
}

}  // namespace heed
