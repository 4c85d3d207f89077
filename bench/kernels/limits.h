// Helpers of the kernel benchmarks. Results are compared with the peak matrix product rate and
// memory bandwidth, which main() measures first.
#pragma once

#include <benchmark/benchmark.h>
#include <functional>
#include <string>
#include <vector>

#include "apps/cost/step_observer.h"
#include "core/precision.h"
#include "core/scope.h"
#include "core/tensor.h"

namespace benchmark {
class State;
}

namespace heed {

// The precisions that this processor has a kernel for.
std::vector<Precision> measured_precisions();

// Adds result columns for one iteration that took `seconds`: GFLOP/s and percent of the peak rate,
// or GB/s and percent of the bandwidth (more than 100 % where the arrays fit a cache).
void count_flops(benchmark::State& state, double flops, double seconds,
                 Precision precision = Precision::highest);
void count_bytes(benchmark::State& state, double bytes, double seconds);

// Calls f once to warm up, then times as many calls as the benchmark asks for. Returns the mean in
// seconds. Register the benchmark with UseManualTime.
double time_calls(benchmark::State& state, const std::function<void()>& f);

using Computation = std::function<Tensor()>;

struct Timed {
  double seconds;
  Cost cost;
};
// Times the forward pass of an operation, recorded as in training, or its backward pass.
Timed time_operation(benchmark::State& state, const Computation& operation, Pass pass);

// Registers NAME/forward/OF and NAME/backward/OF, which call `run` with the pass.
void add_passes(const std::string& name, const std::string& of,
                const std::function<void(benchmark::State&, Pass)>& run);

// A random tensor that requires a gradient.
Tensor random_leaf(const Shape& shape);

// Each registers the benchmarks of its file.
void add_gemm();
void add_attention();
void add_rows();
void add_optimizer();

}  // namespace heed
