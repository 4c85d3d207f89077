#include "lab/experiments/sweep_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/support/clock.h"
#include "apps/support/files.h"
#include "apps/support/interrupt.h"
#include "apps/support/log.h"
#include "apps/support/numbers.h"
#include "apps/training/metrics.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/text.h"
#include "lab/experiments/curves.h"
#include "lab/experiments/data_of_sweep.h"
#include "lab/experiments/groups.h"
#include "lab/experiments/halving.h"
#include "lab/experiments/run_state.h"
#include "lab/experiments/score_kinds.h"

namespace heed {
namespace {

constexpr double poll_seconds = 0.5;
constexpr int max_attempts = 3;
constexpr int exit_code_of_interruption = 130;
constexpr size_t max_shown = 16;  // runs on a terminal

struct LastRow {
  int64_t step = 0;
  double loss = 0;
};

// Returns the last row of metrics with a training loss.
LastRow last_row(const std::string& run) {
  const Curves last = curves_of(last_metrics(in_folder(run, run_files::metrics)));
  const Curve* const loss = last.find("loss");
  return loss ? LastRow{std::llround(loss->steps.back()), loss->values.back()} : LastRow();
}

// Returns the step that a run has reached.
int64_t step_of(const PlannedRun& run) {
  return std::max(saved_step(run.path), last_row(run.path).step);
}

// Returns why a process ended without what it was started for.
std::string problem_of(const TrainingPool::Ended& run) {
  if (run.code == 0) return "ended without a result; does the launcher wait for its command?";
  if (run.code > 128 && run.code != exit_code_of_interruption)
    return fmt::format("ended by signal {}; the same command resumes it", run.code - 128);
  return run.error.empty() ? fmt::format("ended with exit code {}", run.code) : run.error;
}

}  // namespace

SweepTraining::End SweepTraining::run() {
  const InterruptGuard guard;
  std::vector<size_t> points(plan_.points.size());
  for (size_t i = 0; i < points.size(); ++i) points[i] = i;
  if (sweep_.options.method == SweepMethod::halving)
    for (const int64_t rung : sweep_.options.halving.rungs) {
      train(runs_of(points), rung);
      if (stopping()) break;
      points = promoted(points, rung);
    }
  if (!stopping()) train(runs_of(points), std::nullopt);
  logging::hide_progress();
  return interrupted()                      ? End::interrupted
         : failed_.size() > refused_.size() ? End::failed
         : failed_.empty()                  ? End::done
                                            : End::refused;
}

bool SweepTraining::stopping() const {
  return interrupted() || (settings_.fail_fast && !failed_.empty());
}

std::vector<size_t> SweepTraining::runs_of(const std::vector<size_t>& points) const {
  std::vector<size_t> runs;
  for (size_t i = 0; i < plan_.runs.size(); ++i)
    if (plan_.runs[i].refusal.empty() && std::ranges::binary_search(points, plan_.runs[i].point))
      runs.push_back(i);
  return runs;
}

std::vector<size_t> SweepTraining::promoted(const std::vector<size_t>& points, int64_t rung) {
  std::vector<std::optional<double>> means;
  for (const size_t point : points) {
    double sum = 0, count = 0;
    bool complete = true;
    for (const size_t run : runs_of({point})) {
      const auto score =
          score_at(in_folder(plan_.runs[run].path, run_files::metrics), plan_.metric, rung);
      complete = complete && score;
      sum += score.value_or(0);
      ++count;
    }
    means.push_back(complete && count > 0 ? std::optional(sum / count) : std::nullopt);
  }
  check_input(std::ranges::any_of(means, [](const auto& mean) { return mean.has_value(); }),
              "halving.metric = {}: no point has this score up to step {}", in_quotes(plan_.metric),
              rung);
  std::vector<size_t> best;
  std::vector<std::string> names;
  for (const size_t i :
       best_points(means, lower_is_better(plan_.metric), sweep_.options.halving.keep)) {
    best.push_back(points[i]);
    names.push_back(plan_.points[points[i]].name);
  }
  logging::info("rung {}: {} of {} continue, by {}: {}", rung, best.size(),
                counted(std::ssize(points), "point"), plan_.metric, joined(names, "; "));
  return best;
}

void SweepTraining::train(std::vector<size_t> runs, std::optional<int64_t> until) {
  std::erase_if(runs, [&](size_t run) { return failed_.contains(run); });
  until_ = until;
  total_ = runs.size();
  finished_ = 0;
  begin_ = now();
  trained_ = 0;
  for (const size_t run : runs) started_at_[run] = step_of(plan_.runs[run]);
  pending_ = std::move(runs);
  settle_all();
  while (true) {
    if (stopping())
      pool_.stop();
    else
      fill_pool();
    if (pool_.size() == 0 && (pending_.empty() || stopping())) return;
    for (const TrainingPool::Ended& run : pool_.wait(poll_seconds)) ended(run);
    show();
  }
}

SweepTraining::Next SweepTraining::next(size_t index) const {
  const PlannedRun& run = plan_.runs[index];
  const RunState state = state_of(run.path);
  if (state == RunState::done) return Next::reached;
  if (until_ && saved_step(run.path) >= *until_) return Next::reached;
  if (state == RunState::running) return Next::wait;
  return state == RunState::failed && !settings_.retry_failed ? Next::failed : Next::start;
}

SweepTraining::Next SweepTraining::settle(size_t run, bool tells) {
  Next action = Next::failed;
  try {
    action = next(run);
    if (action == Next::reached) {
      RunFolder::open(plan_.runs[run].path).clean_up();
      ++finished_;
      if (tells) tell_finished(run);
    } else if (action == Next::failed) {
      fail(run,
           error_of(plan_.runs[run].path) + " (in an earlier training; --retry-failed resumes it)");
    }
  } catch (const InputError& error) {  // a damaged folder
    fail(run, error.what());
  }
  return action;
}

void SweepTraining::settle_all() {
  std::erase_if(pending_, [&](size_t run) {
    const Next action = settle(run, false);
    return action == Next::reached || action == Next::failed;
  });
  if (finished_ > 0)
    logging::info("{} of {} were done before", finished_,
                  counted(static_cast<int64_t>(total_), "run"));
}

void SweepTraining::fill_pool() {
  for (size_t i = 0; i < pending_.size() && pool_.size() < static_cast<size_t>(settings_.jobs);) {
    const size_t run = pending_[i];
    const Next action = settle(run);
    if (action == Next::start) start(run);
    if (action == Next::wait)
      ++i;
    else
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void SweepTraining::start(size_t index) {
  const PlannedRun& run = plan_.runs[index];
  std::vector<std::string> arguments = {"train",  settings_.base, "--resume",      "--run",
                                        run.path, "--sweep",      settings_.folder};
  for (const std::string& assignment : run.assignments)
    arguments.insert(arguments.end(), {"--set", assignment});
  if (until_) arguments.insert(arguments.end(), {"--until", std::to_string(*until_)});
  if (!logging::on_terminal())
    logging::info("{}: {}", run.name,
                  started_at_[index] > 0 ? fmt::format("resumes from step {}", started_at_[index])
                                         : "starts");
  pool_.start(index, arguments);
}

void SweepTraining::ended(const TrainingPool::Ended& run) {
  const std::string& path = plan_.runs[run.id].path;
  trained_ += std::max<int64_t>(0, last_row(path).step - started_at_[run.id]);
  if (run.code == 0) {
    const Next action = settle(run.id);
    // A process of another sweep may hold the lock at this moment, to find that nothing is left.
    if (action == Next::wait) return pending_.push_back(run.id);
    if (action != Next::start) return;
  }
  if (run.code != 0 && stopping()) return;
  // Another sweep may have started it at the same moment, or just before.
  const RunState state = state_of(path);
  const bool elsewhere = run.code == 2 && state != RunState::none && state != RunState::failed;
  if (elsewhere && ++attempts_[run.id] < max_attempts) return pending_.push_back(run.id);
  if (run.code == 2 && has_other_data(plan_.runs[run.id], settings_.folder))
    refused_.insert(run.id);
  fail(run.id, problem_of(run));
}

void SweepTraining::fail(size_t run, const std::string& error) {
  failed_.insert(run);
  logging::error("{}: {}", plan_.runs[run].name, error);
}

void SweepTraining::tell_finished(size_t index) const {
  const PlannedRun& run = plan_.runs[index];
  const auto score = score_at(in_folder(run.path, run_files::metrics), plan_.metric, target(index));
  logging::info("[{}/{}] {}: {}{}", finished_, total_, run.name,
                until_ ? fmt::format("step {}", *until_) : "done",
                score ? fmt::format(", {} {}", plan_.metric, four_digits(*score)) : "");
}

int64_t SweepTraining::target(size_t run) const {
  return until_.value_or(plan_.runs[run].config.experiment.train.steps);
}

double SweepTraining::seconds_left(const std::map<size_t, int64_t>& running) const {
  int64_t trained = 0, left = 0;
  for (const size_t run : pending_) left += target(run) - started_at_[run];
  for (const auto& [run, last_step] : running) {
    const int64_t step = std::max(started_at_[run], last_step);
    trained += step - started_at_[run];
    left += target(run) - step;
  }
  trained += trained_;
  return trained > 0 ? (now() - begin_) * static_cast<double>(left) / static_cast<double>(trained)
                     : std::numeric_limits<double>::infinity();
}

void SweepTraining::show() const {
  if (!logging::on_terminal()) return;
  std::string lines;
  std::map<size_t, int64_t> running;  // the step of each run
  for (const size_t run : pool_.ids()) {
    const LastRow row = last_row(plan_.runs[run].path);
    running[run] = row.step;
    if (running.size() > max_shown) continue;
    lines += fmt::format("  {}  step {}/{}{}\n", plan_.runs[run].name, row.step, target(run),
                         row.step > 0 ? "  loss " + four_digits(row.loss) : "");
  }
  lines += fmt::format("{}/{} runs, {} in training", finished_, total_, running.size());
  if (!failed_.empty()) lines += fmt::format(", {} failed", failed_.size());
  if (const double left = seconds_left(running); left < 1e9)
    lines += fmt::format("  {} left", logging::clock_text(left));
  logging::show_lines(lines);
}

}  // namespace heed
