// heed bench: how long a training step takes, and how much memory, for models of fixed sizes; or
// how fast they write.
//
// Each size that is trained has a process of its own, so that its memory is measured apart, and so
// that nothing an earlier one left behind, such as blocks in the pool, helps or hinders it.
#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/commands/commands.h"
#include "apps/config/load_config.h"
#include "apps/measure/benchmark.h"
#include "apps/measure/generation_benchmark.h"
#include "apps/support/json.h"
#include "apps/support/log.h"
#include "apps/support/machine.h"
#include "core/parallel.h"

namespace heed::commands {
namespace {

constexpr double mib = 1024 * 1024;

Precision precision_of(const std::string& name) {
  for (const Precision precision : {Precision::highest, Precision::high, Precision::medium})
    if (name == precision_name(precision)) return precision;
  throw InputError("--precision " + name + ": highest, high or medium");
}

double decimals(double number, int count) {
  return std::round(number * std::pow(10, count)) / std::pow(10, count);
}

// What products are made of.
const char* factors(Precision precision) {
  constexpr const char* names[] = {"float32", "bfloat16 + bfloat16", "bfloat16"};
  return names[static_cast<int>(precision)];
}

// What was measured.
Json subject(const BenchmarkSize& size, Precision precision, int64_t parameters) {
  return Json::object()
      .set("peer", "heed " HEED_VERSION)
      .set("size", size.name)
      .set("dtype", factors(precision))
      .set("threads", thread_count())
      .set("parameters", parameters);
}

// The keys that bench/pytorch_step.py has too come first.
std::string as_json(const BenchmarkSize& size, Precision precision, const BenchmarkResult& r) {
  return subject(size, precision, r.parameters)
             .set("ms_per_step", decimals(r.seconds * 1e3, 3))
             .set("tokens_per_s", int64_t{std::lround(static_cast<double>(r.tokens) / r.seconds)})
             .set("loss", decimals(r.loss, 4))
             .set("peak_rss_mb", decimals(r.peak_memory / mib, 1))
             .set("working_mb", decimals(r.working_memory / mib, 1))
             .set("precision", precision_name(precision))
             .set("steps", r.steps)
             .set("gflops_per_s", decimals(r.flops_per_second() / 1e9, 2))
             .set("gemm_gflops_per_s", decimals(r.gemm / 1e9, 2))
             .set("share_of_gemm", decimals(r.flops_per_second() / r.gemm, 4))
             .text() +
         "\n";
}

std::string table_head() {
  return fmt::format("{:<8}  {:>11}  {:>9}  {:>9}  {:>7}  {:>8}  {:>8}  {:>10}  {:>10}\n", "size",
                     "parameters", "ms/step", "tokens/s", "loss", "GFLOP/s", "of gemm",
                     "working MB", "peak MB");
}

std::string table_row(const BenchmarkSize& size, const BenchmarkResult& r) {
  return fmt::format(
      "{:<8}  {:>11}  {:>9.3f}  {:>9.0f}  {:>7.4f}  {:>8.1f}  {:>6.1f} %  {:>10.1f}  {:>10.1f}\n",
      size.name, r.parameters, r.seconds * 1e3, static_cast<double>(r.tokens) / r.seconds, r.loss,
      r.flops_per_second() / 1e9, 100 * r.flops_per_second() / r.gemm, r.working_memory / mib,
      r.peak_memory / mib);
}

// The exit code of a process.
int exit_code(pid_t process, const BenchmarkSize& size) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0)
    check(errno == EINTR, "bench: waiting: {}", std::strerror(errno));
  check(!WIFSIGNALED(status), "bench: size {} was ended by signal {}{}", size.name,
        WTERMSIG(status), WTERMSIG(status) == SIGKILL ? "; was there enough memory?" : "");
  return WEXITSTATUS(status);
}

// The keys that bench/pytorch_generate.py has too come first.
std::string as_json(const BenchmarkSize& size, Precision precision, const GenerationTask& task,
                    const GenerationResult& r) {
  return subject(size, precision, r.parameters)
             .set("batch", task.batch)
             .set("cache", task.cache)
             .set("positions", r.positions)
             .set("tokens", r.tokens)
             .set("tokens_per_s", decimals(r.tokens_per_second(), 1))
             .set("precision", precision_name(precision))
             .text() +
         "\n";
}

int bench_generation(const BenchArguments& arguments, const std::vector<BenchmarkSize>& sizes,
                     Precision precision) {
  const GenerationTask task{arguments.batch.value_or(1), !arguments.no_cache};
  if (!arguments.json)
    fmt::print("{:<8}  {:>11}  {:>5}  {:>9}  {:>9}\n", "size", "parameters", "batch", "positions",
               "tokens/s");
  for (const BenchmarkSize& size : sizes) {
    const GenerationResult r = run_generation(size, task, arguments.seconds);
    if (arguments.json)
      fmt::print("{}", as_json(size, precision, task, r));
    else
      fmt::print("{:<8}  {:>11}  {:>5}  {:>9}  {:>9.1f}\n", size.name, r.parameters, task.batch,
                 r.positions, r.tokens_per_second());
    std::fflush(stdout);
  }
  return exit_done;
}

// Those that were named, or all that can do what is asked.
std::vector<BenchmarkSize> chosen_sizes(const BenchArguments& arguments) {
  std::vector<BenchmarkSize> sizes;
  for (const std::string& name : arguments.sizes) sizes.push_back(benchmark_size(name));
  if (sizes.empty())
    for (const BenchmarkSize& size : benchmark_sizes())
      if (!arguments.generate || size.source == 0) sizes.push_back(size);
  for (const BenchmarkSize& size : sizes)
    check_input(!arguments.generate || size.source == 0,
                "size {} is an encoder-decoder, and --generate is for language models", size.name);
  return sizes;
}

}  // namespace

int bench(const BenchArguments& arguments) {
  const std::vector<BenchmarkSize> sizes = chosen_sizes(arguments);
  check_input(arguments.generate || !arguments.batch, "--batch is for --generate");
  check_input(arguments.generate || !arguments.no_cache, "--no-cache is for --generate");
  check_input(std::isfinite(arguments.seconds), "--seconds {}: a number", arguments.seconds);
  Experiment settings;
  settings.threads = arguments.threads;
  settings.precision = precision_of(arguments.precision);
  apply_settings(settings);
  const Precision precision = effective_precision(settings.precision);
  if (!arguments.json)
    logging::info("{}, {} threads, precision {}", processor_name(), thread_count(),
                  precision_name(precision));
  if (arguments.generate) return bench_generation(arguments, sizes, precision);
  if (!arguments.json) fmt::print("{}", table_head());
  for (const BenchmarkSize& size : sizes) {
    std::fflush(stdout);             // or both processes would write what is in the buffer
    const pid_t process = ::fork();  // nothing has run in parallel yet: no thread is lost
    check(process >= 0, "bench: no process: {}", std::strerror(errno));
    if (process > 0) {
      if (const int code = exit_code(process, size); code != exit_done) return code;
      continue;
    }
    Experiment experiment = benchmark_experiment(size);
    experiment.precision = settings.precision;
    const BenchmarkResult result =
        run_benchmark(experiment, benchmark_corpus(size), arguments.seconds);
    fmt::print("{}", arguments.json ? as_json(size, precision, result) : table_row(size, result));
    return exit_done;  // this process ends as the program does
  }
  return exit_done;
}

}  // namespace heed::commands
