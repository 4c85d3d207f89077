#include "apps/training/training_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unistd.h>

#include "apps/config/config.h"
#include "apps/inference/scores.h"
#include "apps/support/clock.h"
#include "apps/support/interrupt.h"
#include "apps/support/log.h"
#include "apps/support/machine.h"
#include "apps/support/numbers.h"
#include "apps/support/terminal.h"
#include "apps/support/together.h"
#include "apps/support/version.h"
#include "apps/training/arrays.h"
#include "core/abandon.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/text.h"
#include "optim/save.h"

namespace heed {

void check_validation_data(const Experiment& experiment, const Corpus& corpus) {
  check_input(corpus.splits.contains("val") ||
                  (experiment.train.patience == 0 && !experiment.schedule.kind->uses_loss),
              "`train.patience` = {} with `schedule.kind` = \"{}\" needs validation data: set "
              "`data.val_fraction`",
              experiment.train.patience, experiment.schedule.kind->name);
  std::vector<std::string> names;
  for (const auto& [name, dataset] : corpus.splits) names.push_back(name);
  for (const std::string& split : experiment.train.evaluate_splits)
    check_input(split == "val" || (corpus.splits.contains(split) && corpus.splits.contains("val")),
                "`train.evaluate_splits`: the data have no {}; the splits are {}",
                corpus.splits.contains(split) ? "val, which an evaluation needs" : in_quotes(split),
                joined(names));
}

TrainingLoop::TrainingLoop(const Experiment& experiment, const Corpus& corpus, RunWriter* writer)
    : training_(experiment, corpus, writer),
      processor_(processor_name()),
      kernels_(program_kernels) {
  TrainingContext& training = training_;
  check_validation_data(experiment, corpus);
  if (on_any_rank(writer && writer->resumes() && !writer->checkpoints().steps().empty()))
    load();
  else if (writer && !experiment.train.load.empty())
    load_weights(experiment.train.load, experiment.train.load_names,
                 training.trainer.model().parameters(), row_vocabularies(corpus),
                 experiment.train.new_tokens);
  share_parameters();
  if (training.saved_step > 0) training.trainer.average().restore(training.saved_step);
  listeners_ = standard_listeners(training);
}

// Reads the newest checkpoint into the parameters and these arrays, and returns its state.
Json TrainingLoop::read(std::span<const NamedParameter> optimizer,
                        std::span<const NamedParameter> average) {
  const RunWriter& writer = *training_.writer;
  const RunFolder& run = writer.folder();
  const Checkpoint checkpoint = writer.checkpoints().open("latest");
  check_vocabulary_file(checkpoint, run.vocabulary(), training_.corpus.framing);
  check_data(checkpoint, training_.corpus, run.path());
  check_settings(checkpoint, training_.experiment);
  checkpoint.model().read(training_.trainer.model().parameters());
  std::vector<NamedParameter> arrays(optimizer.begin(), optimizer.end());
  arrays.insert(arrays.end(), average.begin(), average.end());
  checkpoint.optimizer().read(arrays);
  Json state = checkpoint.state();
  LoopState training =
      in_context(checkpoint.path(), [&] { return LoopState::from(state.at("training")); });
  const std::vector<int64_t> steps = writer.checkpoints().steps();
  if (!std::ranges::binary_search(steps, training.best_step)) training.best_step = 0;
  state.set("training", training.json());
  return state;
}

void TrainingLoop::load() {
  Trainer& trainer = training_.trainer;
  const std::vector<NamedParameter> optimizer = state_of(trainer.optimizer());
  const std::vector<NamedParameter> average = trainer.average().state();
  const std::string path =
      from_first_rank(training_.writer ? training_.writer->checkpoints().find("latest") : "");
  const Json state =
      Json::parse(from_first_rank(training_.writer ? read(optimizer, average).text() : ""), path);
  in_context(path, [&] {
    processor_ = state.at("processor").string();
    if (const Json* kernels = state.find("kernels")) kernels_ = kernels->string();
    const int64_t step = state.at("step").integer(),
                  updates = state.at("optimizer_steps").integer();
    check_input(updates <= step, "'optimizer_steps' is {}, more than the steps", updates);
    load_state(trainer.optimizer(), updates, optimizer);
    trainer.average().load_state(average);
    std::map<std::string, double> schedule;
    for (const auto& [name, value] : state.at("schedule").members())
      schedule[name] = value.number();
    check_input(trainer.plateau() || schedule.empty(),
                "schedule state: it was saved by another kind of schedule");
    if (trainer.plateau()) trainer.plateau()->load_state(schedule);
    training_.state = LoopState::from(state.at("training"));
    training_.saved_step = step;
  });
  training_.seconds_before = training_.state.seconds;
  trainer.set_steps_done(training_.saved_step);
}

// Gives every rank the parameters of rank 0.
void TrainingLoop::share_parameters() {
  for (NamedParameter& parameter : training_.trainer.model().parameters())
    copy_from_first_rank(
        {parameter.tensor.mutable_data(), static_cast<size_t>(parameter.tensor.size())});
}

void TrainingLoop::announce() const {
  if (training_.saved_step > 0) logging::info("resumed from step {}", training_.saved_step);
  if (processor_ != processor_name())
    logging::warning(
        "started on another processor ({}): the weights will differ in their last bits",
        processor_);
  else if (kernels_ != program_kernels)
    logging::warning(
        "started with kernels for {}, not {}: the weights will differ in their last bits", kernels_,
        program_kernels);
}

// Updates the weights once, and counts the step. An error says what to do about it.
StepReport TrainingLoop::step() {
  const double begin = now();
  StepReport report;
  // A rank alone cannot leave a step: the others would wait for it.
  const ValueGuard<AbandonTest> until_signal(abandons, rank_count() == 1 ? interrupted : nullptr);
  try {
    report = training_.trainer.step();
  } catch (const InputError& error) {  // of data.command
    const std::string text =
        replace_names(with_keys(error.what(), "data"), [](const std::string& key) { return key; });
    throw InputError(fmt::format("step {}: {}{}", training_.step() + 1, text, training_.intact()));
  } catch (const Error& error) {
    check_not_abandoned();  // what was left out is no number
    // The text is wrapped, so the kind of the error must be asked here, where it is caught.
    const bool has_diverged = dynamic_cast<const Diverged*>(&error);
    std::string hint = (has_diverged ? training_.remedy() : "") + training_.intact();
    if (!training_.experiment.train.detect_anomaly && !dynamic_cast<const LostRank*>(&error))
      hint += "; train.detect_anomaly = true names the operation";
    throw Error(fmt::format("step {}: {}{}", training_.step() + 1, error.what(), hint));
  }
  report.seconds = now() - begin;
  LoopState& state = training_.state;
  state.loss_sum += report.loss;
  ++state.loss_count;
  state.tokens += report.tokens;
  state.step_seconds += report.seconds;
  return report;
}

bool TrainingLoop::stopped_early() const {
  return std::ranges::any_of(listeners_, [](const auto& listener) { return listener->stops(); });
}

TrainingLoop::End TrainingLoop::run(int64_t until) {
  const InterruptGuard guard;
  announce();
  const int64_t steps = training_.experiment.train.steps, last = std::min(until, steps);
  bool is_interrupted = false;
  while (steps_done() < last && !stopped_early()) {
    is_interrupted = on_any_rank(interrupted());
    if (is_interrupted) break;
    for (const auto& listener : listeners_) listener->before_step();
    try {
      const StepReport report = step();
      for (const auto& listener : listeners_) listener->after_step(report);
    } catch (const Abandoned&) {
      is_interrupted = true;
      break;
    }
  }
  for (const auto& listener : listeners_) listener->end();
  const bool unfinished = steps_done() < steps;
  if (is_interrupted && unfinished) return End::interrupted;
  return unfinished && !stopped_early() ? End::paused : End::done;
}

std::string TrainingLoop::finish() {
  const int64_t steps = training_.step();
  training_.state.seconds = training_.elapsed();
  const int64_t best = training_.state.best_step > 0 ? training_.state.best_step : steps;
  ScopeGuard here;
  here->step = static_cast<uint32_t>(best);
  training_.trainer.average().apply(steps);
  if (best != steps && training_.writer)
    training_.writer->checkpoints().open("best").model().read(
        training_.trainer.model().parameters());
  share_parameters();
  const double tokens_per_s = training_.tokens_per_second();
  TrainingResult result{steps, to_milliseconds(training_.state.seconds), std::round(tokens_per_s),
                        best, training_.trainer.model().parameter_count()};
  for (const std::string& split : measured_splits(training_.corpus))
    result.splits.emplace_back(
        split, score_split(training_.trainer.model(), training_.corpus, training_.experiment, split)
                   .scores);
  if (!training_.writer) return "";
  training_.writer->result(result);
  std::string text = fmt::format("{}: {} in {}, {:.0f} tokens/s; scores of step {}\n\n{}\n",
                                 escaped(training_.writer->folder().path()), counted(steps, "step"),
                                 logging::clock_text(training_.state.seconds), tokens_per_s, best,
                                 scores_table(result.splits));
  if (result.splits.empty()) return text;
  const std::string shown =
      training_.corpus.splits.contains("test") ? "test" : result.splits[0].first;
  for (const Prediction& sample : training_.samples(shown))
    text += "\n" + cut_lines(sample_text(sample), terminal_width(STDOUT_FILENO));
  return text + "\n";
}

}  // namespace heed
