// Benchmarks of heed's kernels, compared with the peak rates of the machine.
//
//   apt-get install libbenchmark-dev
//   cmake -S . -B build/bench -G Ninja -DHEED_BENCHMARKS=ON && ninja -C build/bench bench_kernels
//   build/bench/bench/kernels/bench_kernels --benchmark_filter=attention
//
// Prefix it with `taskset -c 0` to use one thread.
#include <fmt/format.h>

#include <benchmark/benchmark.h>

#include "apps/support/clock.h"
#include "apps/support/machine.h"
#include "bench/kernels/limits.h"
#include "core/autograd.h"
#include "core/parallel.h"
#include "core/random.h"
#include "lab/measure/rates.h"

namespace heed {
namespace {

void measure_limits() {
  for (const Precision precision : measured_precisions())
    benchmark::AddCustomContext(fmt::format("gemm, {}", precision_name(precision)),
                                fmt::format("{:.1f} GFLOP/s", gemm_rate(precision) / 1e9));
  benchmark::AddCustomContext("memory", fmt::format("{:.1f} GB/s", memory_bandwidth() / 1e9));
  benchmark::AddCustomContext("threads", std::to_string(thread_count()));
}

}  // namespace

std::vector<Precision> measured_precisions() {
  std::vector<Precision> all;
  for (const Precision precision : {Precision::highest, Precision::high, Precision::medium})
    if (effective_precision(precision) == precision) all.push_back(precision);
  return all;
}

void count_flops(benchmark::State& state, double flops, double seconds, Precision precision) {
  state.counters["GFLOP/s"] = flops / seconds / 1e9;
  state.counters["%gemm"] = 100 * flops / seconds / gemm_rate(precision);
}

void count_bytes(benchmark::State& state, double bytes, double seconds) {
  state.counters["GB/s"] = bytes / seconds / 1e9;
  state.counters["%memory"] = 100 * bytes / seconds / memory_bandwidth();
}

double time_calls(benchmark::State& state, const std::function<void()>& f) {
  f();
  double all = 0;
  for (auto _ : state) {
    const double start = now();
    f();
    const double seconds = now() - start;
    state.SetIterationTime(seconds);
    all += seconds;
  }
  return all / static_cast<double>(state.iterations());
}

Timed time_operation(benchmark::State& state, const Computation& operation, Pass pass) {
  const Tensor cotangent = Tensor::full(operation().shape(), 1);
  StepObserver observer;
  {
    const ObserverScope here(observer);
    backward(operation(), cotangent);
  }
  Timed timed{0, {}};
  for (const Event& event : observer.events())
    if (event.pass == pass) timed.cost += event.cost;
  if (pass == Pass::forward) {
    timed.seconds = time_calls(state, [&] { benchmark::DoNotOptimize(operation()); });
    return timed;
  }
  for (auto _ : state) {
    const Tensor y = operation();
    const double start = now();
    backward(y, cotangent);
    const double seconds = now() - start;
    state.SetIterationTime(seconds);
    timed.seconds += seconds;
  }
  timed.seconds /= static_cast<double>(state.iterations());
  return timed;
}

void add_passes(const std::string& name, const std::string& of,
                const std::function<void(benchmark::State&, Pass)>& run) {
  for (const Pass pass : {Pass::forward, Pass::backward})
    benchmark::RegisterBenchmark(fmt::format("{}/{}/{}", name, name_of(passes, pass), of).c_str(),
                                 [=](benchmark::State& state) { run(state, pass); })
        ->UseManualTime();
}

// Repeats 65,536 random values: drawing more would take longer than the benchmarks.
Tensor random_leaf(const Shape& shape) {
  constexpr int64_t period = 1 << 16;
  Random random(1, Purpose::task);
  Tensor x = Tensor::empty(shape);
  real* const to = x.mutable_data();
  for (int64_t i = 0; i < x.size(); ++i)
    to[i] = i < period ? static_cast<real>(random.normal()) : to[i - period];
  return x.set_requires_grad();
}

}  // namespace heed

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  heed::measure_limits();
  heed::add_gemm();
  heed::add_attention();
  heed::add_rows();
  heed::add_optimizer();
  benchmark::RunSpecifiedBenchmarks();
}
