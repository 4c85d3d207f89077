#include "apps/training/training_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unistd.h>

#include "apps/inference/predictions.h"
#include "apps/inference/scores.h"
#include "apps/support/clock.h"
#include "apps/support/colour.h"
#include "apps/support/files.h"
#include "apps/support/interrupt.h"
#include "apps/support/log.h"
#include "apps/support/machine.h"
#include "apps/support/numbers.h"
#include "apps/training/arrays.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/ops.h"
#include "core/precision.h"
#include "core/ranks.h"
#include "core/text.h"

namespace heed {
namespace {

double per(double amount, double seconds) { return seconds > 0 ? amount / seconds : 0; }

}  // namespace

void check_validation_data(const Experiment& experiment, const Corpus& corpus) {
  check_keys(corpus.splits.contains("val") ||
                 (experiment.train.patience == 0 && !experiment.schedule.kind->uses_loss),
             {"train.patience", "schedule.kind", "data.val_fraction"},
             "train.patience = {} with schedule.kind = \"{}\" needs validation data: set "
             "data.val_fraction",
             experiment.train.patience, experiment.schedule.kind->name);
  std::vector<std::string> names;
  for (const auto& [name, dataset] : corpus.splits) names.push_back(name);
  for (const std::string& split : experiment.train.evaluate_splits)
    check_keys(split == "val" || (corpus.splits.contains(split) && corpus.splits.contains("val")),
               {"train.evaluate_splits"},
               "train.evaluate_splits: the data have no {}; the splits are {}",
               corpus.splits.contains(split) ? "val, which an evaluation needs" : in_quotes(split),
               joined(names));
}

TrainingLoop::TrainingLoop(const Experiment& experiment, const Corpus& corpus, const RunLock* lock,
                           bool resume)
    : experiment_(experiment),
      corpus_(corpus),
      lock_(lock),
      trainer_(experiment, corpus),
      checkpoints_(lock ? lock->folder().checkpoints() : "", experiment.train.keep_checkpoints),
      binding_(binding_of(experiment, corpus, trainer_.model().parameters())),
      processor_(processor_name()),
      started_(now()) {
  check_validation_data(experiment, corpus);
  if (on_any_rank(resume && !checkpoints_.steps().empty()))
    load();
  else if (lock_ && !experiment.train.load.empty())
    load_weights(experiment.train.load, experiment.train.load_names, trainer_.model().parameters(),
                 row_vocabularies(corpus), experiment.train.new_tokens);
  share_parameters();
  if (saved_step_ > 0) trainer_.average().restore(saved_step_);
  if (experiment.train.statistics)
    statistics_ = std::make_unique<StepStatistics>(experiment, corpus, trainer_);
  if (!lock_) return;
  metrics_ = std::make_unique<MetricsFile>(lock_->folder().metrics(), trainer_.steps_done());
  if (resume) checkpoints_.clean_up();
  if (saved_step_ > 0) checkpoints_.settle(saved_step_, state_.best_step);
}

// Reads the newest checkpoint into the parameters and these arrays, and returns its state.
Json TrainingLoop::read(std::span<const NamedParameter> optimizer,
                        std::span<const NamedParameter> average) {
  const RunFolder& run = lock_->folder();
  const Checkpoint checkpoint = checkpoints_.open("latest");
  check_vocabulary_file(checkpoint, run.vocabulary(), corpus_.framing);
  check_data(checkpoint, corpus_, run.path());
  check_settings(checkpoint, experiment_);
  checkpoint.read_model(targets_of(trainer_.model().parameters()));
  std::vector<NamedParameter> arrays(optimizer.begin(), optimizer.end());
  arrays.insert(arrays.end(), average.begin(), average.end());
  checkpoint.read_optimizer(targets_of(arrays));
  Json state = checkpoint.state();
  LoopState training =
      in_context(checkpoint.path(), [&] { return LoopState::from(state.at("training")); });
  const std::vector<int64_t> steps = checkpoints_.steps();
  if (!std::ranges::binary_search(steps, training.best_step)) training.best_step = 0;
  state.set("training", training.json());
  return state;
}

void TrainingLoop::load() {
  const std::vector<NamedParameter> optimizer = trainer_.optimizer().state();
  const std::vector<NamedParameter> average = trainer_.average().state();
  const std::string path = from_first_rank(lock_ ? checkpoints_.find("latest") : "");
  const Json state =
      Json::parse(from_first_rank(lock_ ? read(optimizer, average).text() : ""), path);
  in_context(path, [&] {
    processor_ = state.at("processor").string();
    const int64_t step = state.at("step").integer(),
                  updates = state.at("optimizer_steps").integer();
    check_input(updates <= step, "'optimizer_steps' is {}, more than the steps", updates);
    trainer_.optimizer().load_state(updates, optimizer);
    trainer_.average().load_state(average);
    std::map<std::string, double> schedule;
    for (const auto& [name, value] : state.at("schedule").members())
      schedule[name] = value.number();
    trainer_.schedule().load_state(schedule);
    state_ = LoopState::from(state.at("training"));
    saved_step_ = step;
  });
  seconds_before_ = state_.seconds;
  trainer_.set_steps_done(saved_step_);
}

// Gives every rank the parameters of rank 0.
void TrainingLoop::share_parameters() {
  if (rank_count() == 1) return;
  for (NamedParameter& parameter : trainer_.model().parameters())
    Ranks::current->broadcast(std::as_writable_bytes(
        std::span(parameter.tensor.mutable_data(), static_cast<size_t>(parameter.tensor.size()))));
}

void TrainingLoop::save() {
  const int64_t step = trainer_.steps_done();
  if (lock_) lock_->check_held();
  if (std::exchange(saved_step_, step) == step) return;
  const AveragedWeights average(trainer_);
  const std::vector<NamedParameter> arrays = trainer_.state();
  if (!lock_) return;
  metrics_->sync();
  state_.seconds = elapsed();
  Json schedule = Json::object();
  for (const auto& [name, value] : trainer_.schedule().state()) schedule.set(name, value);
  Json state = Json::object()
                   .set("step", step)
                   .set("optimizer_steps", trainer_.optimizer().steps())
                   .set("schedule", std::move(schedule))
                   .set("training", state_.json())
                   .set("data", corpus_.fingerprint)
                   .set("settings", binding_.settings)
                   .set("vocabulary", binding_.vocabulary)
                   .set("processor", processor_name())
                   .set("precision", precision_name(effective_precision(experiment_.precision)));
  checkpoints_.save(step, arrays_of(trainer_.model().parameters()), arrays_of(arrays),
                    std::move(state), state_.best_step, binding_.metadata);
}

double TrainingLoop::elapsed() const { return seconds_before_ + now() - started_; }

bool TrainingLoop::due_at(int64_t step, int64_t every) const {
  return step == experiment_.train.steps || (every > 0 && step % every == 0);
}

bool TrainingLoop::stopped_early() const {
  const int64_t patience = experiment_.train.patience;
  return patience > 0 && state_.evaluations_since_best >= patience;
}

StepReport TrainingLoop::step() {
  if (statistics_ && due_at(trainer_.steps_done() + 1, experiment_.train.log_every))
    statistics_->before_step();
  const double begin = now();
  StepReport report;
  try {
    report = trainer_.step();
  } catch (const Error& error) {
    const bool has_diverged = dynamic_cast<const Diverged*>(&error);
    std::string hint = (has_diverged ? remedy() : "") + checkpoints_.intact();
    if (!experiment_.train.detect_anomaly && !dynamic_cast<const LostRank*>(&error))
      hint += "; train.detect_anomaly = true names the operation";
    throw Error(fmt::format("step {}: {}{}", trainer_.steps_done() + 1, error.what(), hint));
  }
  const double seconds = now() - begin;
  state_.loss_sum += report.loss;
  ++state_.loss_count;
  state_.tokens += report.tokens;
  state_.step_seconds += seconds;
  row_tokens_ += report.tokens;
  rows_without_sum_ += report.rows_without_sum;
  row_seconds_ += seconds;
  return report;
}

// What to do about a loss that is not finite.
std::string TrainingLoop::remedy() const {
  return fmt::format("; lower optim.lr ({}), raise schedule.warmup_steps ({}){}",
                     experiment_.optim.lr, experiment_.schedule.warmup_steps,
                     experiment_.optim.clip_norm > 0 ? "" : ", or set optim.clip_norm = 1");
}

void TrainingLoop::write_row(const Json& row) {
  if (!lock_) return;
  lock_->check_held();
  metrics_->write(row);
}

void TrainingLoop::log_step(const StepReport& report) {
  const int64_t step = trainer_.steps_done();
  const double loss =
      state_.loss_sum / static_cast<double>(std::max<int64_t>(1, state_.loss_count));
  const double tokens_per_s = per(static_cast<double>(row_tokens_), row_seconds_);
  write_row(Json::object()
                .set("step", step)
                .set("loss", loss)
                .set("lr", report.lr)
                .set("gradient_norm", report.gradient_norm)
                .set("tokens_per_s", std::round(tokens_per_s))
                .set("seconds", to_milliseconds(elapsed())));
  if (statistics_) trainer_.optimizer().arena().gather_gradients();
  if (statistics_ && lock_)
    write_row(Json::object().set("step", step).set("statistics", statistics_->measure(report)));
  logging::info("step {:>{}}  loss {}  learning rate {:.3g}  {:.0f} tokens/s", step,
                std::to_string(experiment_.train.steps).size(), four_digits(loss), report.lr,
                tokens_per_s);
  if (rows_without_sum_ > 0)
    logging::warning("{} rows of attention weights had a sum of at most {} and were set to zero",
                     rows_without_sum_, min_row_sum);
  rows_without_sum_ = 0;
  state_.loss_sum = 0;
  state_.loss_count = row_tokens_ = 0;
  row_seconds_ = 0;
}

void TrainingLoop::evaluate() {
  if (!corpus_.splits.contains("val")) return;
  const int64_t step = trainer_.steps_done();
  const AveragedWeights average(trainer_);
  for (const NamedArray& weights : arrays_of(trainer_.model().parameters()))
    check(all_finite(weights, weights.data), "step {}: {} has become infinite or NaN{}{}", step,
          weights.name, remedy(), checkpoints_.intact());
  ScopeGuard here;
  here->step = static_cast<uint32_t>(step);
  const BestBy best_by = experiment_.train.best_by;
  const bool needs_outputs = best_by == BestBy::bleu || best_by == BestBy::chrf;
  const auto scores_of = needs_outputs ? split_scores : quick_scores;
  const Json scores = scores_of(trainer_.model(), corpus_, experiment_, "val");
  const double loss = scores.at("loss").number();
  check(std::isfinite(loss), "step {}: the validation loss is {}{}{}", step, number_in_words(loss),
        remedy(), checkpoints_.intact());
  trainer_.schedule().observe(loss);
  const std::string score_name = name_of(best_by_names, best_by);
  const double score = scores.at(score_name).number();
  if (std::isfinite(score) &&
      (state_.best_step == 0 || is_better(score_name, score, state_.best_score))) {
    state_.best_step = step;
    state_.best_score = score;
    state_.evaluations_since_best = 0;
  } else {
    ++state_.evaluations_since_best;
  }
  Json row = Json::object().set("step", step).set("val", scores);
  for (const std::string& split : experiment_.train.evaluate_splits)
    if (split != "val") row.set(split, scores_of(trainer_.model(), corpus_, experiment_, split));
  write_row(row.set("seconds", to_milliseconds(elapsed())));
  const bool exact = has_exact_match(experiment_);
  const std::string line =
      fmt::format("step {}  validation: loss {}, {} {:.2f} %", step, four_digits(loss),
                  exact ? "exact match" : "token accuracy",
                  100 * scores.at(exact ? "exact_match" : "token_accuracy").number());
  if (state_.best_step == step)
    logging::good("{}  (best)", line);
  else
    logging::info("{}", line);
  if (lock_)
    for (const Prediction& sample : samples("val")) logging::sample(sample_text(sample));
}

std::vector<Prediction> TrainingLoop::samples(const std::string& split) {
  ScopeGuard here;
  const ValueGuard<Ranks*> alone(Ranks::current, nullptr);  // rank 0 computes them
  return predictions(trainer_.model(), corpus_, *corpus_.splits.at(split),
                     experiment_.train.samples, learned_positions(experiment_.model));
}

TrainingLoop::End TrainingLoop::run(int64_t until) {
  const TrainOptions& train = experiment_.train;
  const InterruptGuard guard;
  if (saved_step_ > 0) logging::info("resumed from step {}", saved_step_);
  if (processor_ != processor_name())
    logging::warning(
        "started on another processor ({}): the weights will differ in their last bits",
        processor_);
  const int64_t last = std::min(until, train.steps);
  bool is_interrupted = false;
  while (trainer_.steps_done() < last && !stopped_early()) {
    is_interrupted = on_any_rank(interrupted());
    if (is_interrupted) break;
    const StepReport report = step();
    const int64_t done = trainer_.steps_done();
    const double left =
        per(elapsed(), static_cast<double>(done)) * static_cast<double>(train.steps - done);
    logging::show({done, train.steps, report.loss,
                   per(static_cast<double>(state_.tokens), state_.step_seconds), left});
    if (due(train.log_every)) log_step(report);
    const bool evaluation = due(train.evaluate_every);
    if (evaluation) evaluate();
    const bool best = evaluation && state_.best_step == done;
    if (best || due(train.checkpoint_every) || (evaluation && train.checkpoint_every == 0) ||
        stopped_early())
      save();
  }
  logging::hide_progress();
  if (trainer_.steps_done() > 0) save();
  const bool unfinished = trainer_.steps_done() < train.steps;
  if (is_interrupted && unfinished) return End::interrupted;
  if (stopped_early())
    logging::info("stopped at step {}: {} evaluations in a row without improvement",
                  trainer_.steps_done(), train.patience);
  return unfinished && !stopped_early() ? End::paused : End::done;
}

std::string TrainingLoop::finish() {
  const int64_t steps = trainer_.steps_done();
  state_.seconds = elapsed();
  const int64_t best = state_.best_step > 0 ? state_.best_step : steps;
  ScopeGuard here;
  here->step = static_cast<uint32_t>(best);
  trainer_.average().apply(steps);
  if (best != steps && lock_)
    checkpoints_.open("best").read_model(targets_of(trainer_.model().parameters()));
  share_parameters();
  const double tokens_per_s = per(static_cast<double>(state_.tokens), state_.step_seconds);
  Json result = Json::object()
                    .set("steps", steps)
                    .set("seconds", to_milliseconds(state_.seconds))
                    .set("tokens_per_s", std::round(tokens_per_s))
                    .set("best_step", best)
                    .set("parameters", trainer_.model().parameter_count());
  std::vector<std::pair<std::string, Json>> splits;
  for (const std::string& split : measured_splits(corpus_)) {
    splits.emplace_back(split, split_scores(trainer_.model(), corpus_, experiment_, split));
    result.set(split, splits.back().second);
  }
  if (!lock_) return "";
  lock_->check_held();
  const RunFolder& run = lock_->folder();
  write_file(run.result(), result.text(2) + "\n");
  std::string text =
      fmt::format("{}: {} in {}, {:.0f} tokens/s; scores of step {}\n\n{}\n", escaped(run.path()),
                  counted(steps, "step"), logging::clock_text(state_.seconds), tokens_per_s, best,
                  scores_table(splits));
  if (splits.empty()) return text;
  const std::string shown = corpus_.splits.contains("test") ? "test" : splits[0].first;
  for (const Prediction& sample : samples(shown))
    text += "\n" + cut_lines(sample_text(sample), terminal_width(STDOUT_FILENO));
  return text + "\n";
}

}  // namespace heed
