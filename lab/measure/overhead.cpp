#include "lab/measure/overhead.h"

#include <algorithm>
#include <vector>

#include "apps/support/clock.h"
#include "apps/training/trainer.h"
#include "core/parallel.h"
#include "core/pool.h"
#include "core/stage_observer.h"
#include "lab/measure/median.h"

namespace heed {
namespace {

struct LoopCounter final : StageObserver {
  int64_t loops = 0;
  void loop_finished(int64_t) noexcept override { ++loops; }
};

// Before the trainer tries whether one thread is faster, and after its first step, which computes
// what later ones reuse.
int64_t loops_of_step(Trainer& trainer) {
  int64_t most = 0;  // on a busy machine loops use fewer threads
  for (int i = 0; i < 3; ++i) {
    LoopCounter counter;
    const ObserverScope here(counter);
    trainer.step();
    if (i > 0) most = std::max(most, counter.loops);
  }
  return most;
}

double seconds_of_step(Trainer& trainer, double seconds) {
  return median_of(seconds_of(seconds, [&] { trainer.step(); }));
}

double seconds_of_loop() {
  constexpr int at_once = 100;
  std::vector<double> times;
  for (int i = 0; i < 100; ++i) {
    const double start = now();
    for (int loop = 0; loop < at_once; ++loop)
      parallel_for(thread_count(), 1, [](int64_t, int64_t) {});
    times.push_back((now() - start) / at_once);
  }
  return median_of(std::move(times));
}

}  // namespace

Overhead measure_overhead(const Experiment& experiment, const Corpus& corpus, double seconds) {
  Overhead result;
  result.loop = thread_count() > 1 ? seconds_of_loop() : 0;
  {
    Trainer trainer(experiment, corpus);
    result.loops = loops_of_step(trainer);
    result.step = seconds_of_step(trainer, seconds / 2);
  }
  Trainer trainer(experiment, corpus);
  const ValueGuard backed(pool_backs_shapes, true);
  ScopeGuard here;
  here->shapes_only = true;
  for (int i = 0; i < 3; ++i) trainer.step();
  result.without_loops = seconds_of_step(trainer, seconds / 2);
  return result;
}

}  // namespace heed
