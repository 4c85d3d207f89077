// Trains the runs of a sweep in child processes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lab/experiments/plan.h"
#include "lab/experiments/sweep_options.h"
#include "lab/experiments/training_pool.h"

namespace heed {

class SweepTraining {
 public:
  struct Settings {
    std::string folder;  // of the sweep
    std::string base;    // path of the config of all runs
    int64_t jobs = 1;
    std::string launcher;
    bool fail_fast = false, retry_failed = false;
  };
  SweepTraining(const Sweep& sweep, const SweepPlan& plan, Settings settings)
      : sweep_(sweep),
        plan_(plan),
        settings_(std::move(settings)),
        pool_(settings_.launcher),
        started_at_(plan.runs.size()) {}

  // refused: the runs that failed were rejected because their data have changed.
  enum class End { done, refused, failed, interrupted };
  // Trains every run without a refusal. The state of each is read from its folder before it starts,
  // so that done runs stay, others are resumed, and those that another process trains are waited
  // for.
  End run();

 private:
  enum class Next { start, wait, reached, failed };

  void train(std::vector<size_t> runs, std::optional<int64_t> until);
  std::vector<size_t> promoted(const std::vector<size_t>& points, int64_t rung);
  std::vector<size_t> runs_of(const std::vector<size_t>& points) const;
  Next next(size_t run) const;
  // Counts a run that needs no training as finished or failed. Returns what is to be done with it.
  Next settle(size_t run, bool tells = true);
  void settle_all();  // and removes them from pending_
  void fill_pool();
  void start(size_t run);
  void ended(const TrainingPool::Ended& run);
  void fail(size_t run, const std::string& error);
  void tell_finished(size_t run) const;
  bool stopping() const;
  void show() const;
  // `running`: the last step of each run in training.
  double seconds_left(const std::map<size_t, int64_t>& running) const;
  int64_t target(size_t run) const;

  const Sweep& sweep_;
  const SweepPlan& plan_;
  const Settings settings_;
  TrainingPool pool_;
  std::set<size_t> failed_, refused_;  // the latter are among the former
  std::map<size_t, int> attempts_;
  // The current rung.
  std::optional<int64_t> until_;
  std::vector<size_t> pending_;
  size_t total_ = 0, finished_ = 0;
  double begin_ = 0;
  int64_t trained_ = 0;              // steps of runs that have ended
  std::vector<int64_t> started_at_;  // the step of each run at the start of the rung
};

}  // namespace heed
