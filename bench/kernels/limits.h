// What the kernels are held against: the gemm rate and the bandwidth of memory that main() measures
// before anything else.
#pragma once

#include <benchmark/benchmark.h>
#include <functional>
#include <string>
#include <vector>

#include "apps/measure/step_watch.h"
#include "core/scope.h"
#include "core/tensor.h"

namespace benchmark {
class State;
}

namespace heed {

// Those that this processor has a kernel for.
std::vector<Precision> measured_precisions();

// Columns for what one iteration did, in so many seconds: GFLOP/s and their share of the gemm rate,
// or GB/s and their share of the bandwidth. Beyond 100 % a cache is at work, for small arrays.
void count_flops(benchmark::State& state, double flops, double seconds,
                 Precision precision = Precision::highest);
void count_bytes(benchmark::State& state, double bytes, double seconds);

// Calls f once, and then as often as the benchmark wants it, timed; returns the mean seconds. To be
// registered with UseManualTime.
double time_calls(benchmark::State& state, const std::function<void()>& f);

using Computation = std::function<Tensor()>;

struct Timed {
  double seconds;
  OperationCost cost;
};
// An operation that is recorded, as in training; or its backward alone.
Timed time_operation(benchmark::State& state, const Computation& operation, Pass pass);

// Registers NAME/forward/CASE and NAME/backward/CASE: `run` gets the pass.
void add_passes(const std::string& name, const std::string& of,
                const std::function<void(benchmark::State&, Pass)>& run);

// Random numbers that want a gradient.
Tensor random_leaf(const Shape& shape);

// Every file adds its benchmarks.
void add_gemm();
void add_attention();
void add_rows();
void add_optimizer();

}  // namespace heed
