// A step of AdamW with clipping, by the number of parameters.
#include "optim/optimizer.h"

#include <fmt/format.h>

#include <benchmark/benchmark.h>

#include "bench/kernels/limits.h"

namespace heed {

namespace {

void run(benchmark::State& state, int64_t parameters) {
  OptimOptions options;
  options.weight_decay = 0.01;
  Optimizer optimizer(options, {{"weight", random_leaf({parameters / 64, 64})}});
  const double seconds = time_calls(state, [&] { benchmark::DoNotOptimize(optimizer.step()); });
  StepObserver observer;
  {
    const ObserverScope here(observer);
    optimizer.step();
    stage_finished("optimizer");
  }
  count_bytes(state, observer.events().back().cost.bytes, seconds);
}

}  // namespace

void add_optimizer() {
  for (const int64_t parameters : {1 << 17, 1 << 23, 1 << 25})
    benchmark::RegisterBenchmark(fmt::format("adamw/{}", parameters).c_str(), run, parameters)
        ->UseManualTime();
}

}  // namespace heed
