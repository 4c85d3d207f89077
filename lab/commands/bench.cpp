// heed bench: measures time and memory of training steps, or generated tokens per second, for
// models of fixed sizes.
//
// Each size runs in a separate process, so its memory does not include blocks that an earlier size
// left in the pool.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "apps/config/load_config.h"
#include "apps/support/json.h"
#include "apps/support/log.h"
#include "apps/support/machine.h"
#include "apps/support/process.h"
#include "apps/support/terminal.h"
#include "apps/support/together.h"
#include "apps/support/version.h"
#include "apps/training/shards.h"
#include "core/joined.h"
#include "core/parallel.h"
#include "core/precision.h"
#include "lab/commands/room.h"
#include "lab/measure/benchmark.h"
#include "lab/measure/overhead.h"
#include "lab/measure/rates.h"

namespace heed {
namespace {

struct BenchArguments final : CommandArguments {
  std::vector<std::string> sizes;  // empty: all
  std::string precision = "highest";
  double seconds = 5;  // for each size
  int64_t threads = 0, shards = 1;
  bool json = false;
  bool overhead = false;
  bool generate = false;         // measures generation instead of training steps
  std::optional<int64_t> batch;  // of generation
  bool no_cache = false;         // of generation

  std::vector<Option> options() override {
    constexpr const char* generation = "Generation with a language model";
    constexpr Range any, day{0, 86400}, thread_counts{1, 1024}, batches{1, 1 << 16};
    return {
        {"--size", "NAME[,NAME]", &sizes,
         fmt::format("Sizes to measure, of {} (default: all)", joined(benchmark_names()))},
        {"--precision", "highest|high|medium", &precision,
         "Precision of matrix products (default: highest)"},
        {"--seconds", "SECONDS", &seconds, "Seconds to spend on each size (default: 5)", day},
        {"--threads", "COUNT", &threads,
         "Threads to use (default: OMP_NUM_THREADS, or one for each physical core)", thread_counts},
        {"--shards", "COUNT", &shards, "Value of train.shards (default: 1)", thread_counts},
        {"--json", "", &json, "Print JSON, one line for each size"},
        {"--overhead", "", &overhead,
         "Measure what a step costs besides its arithmetic: without loops, and the loops"},
        {"--generate", "", &generate,
         "Measure generated tokens per second, from one token up to the last position", any,
         generation},
        {"--batch", "COUNT", &batch, "Texts to generate at once (default: 1)", batches, generation},
        {"--no-cache", "", &no_cache,
         "Read all tokens again for each new one, without a cache of keys and values", any,
         generation}};
  }
  int run() const override;
};

double decimals(double number, int count) {
  return std::round(number * std::pow(10, count)) / std::pow(10, count);
}

// Types of the operands of matrix products.
constexpr Named<Precision> operand_types[] = {{"float32", Precision::highest},
                                              {"bfloat16 + bfloat16", Precision::high},
                                              {"bfloat16", Precision::medium}};

// Returns the keys that all measurements have.
Json common_json(const BenchmarkSize& size, Precision precision, int64_t parameters) {
  return Json::object()
      .set("peer", fmt::format("heed {}", program_version))
      .set("size", size.name)
      .set("dtype", name_of(operand_types, precision))
      .set("threads", thread_count())
      .set("parameters", parameters);
}

// First the keys that bench/pytorch_step.py prints too.
std::string as_json(const BenchmarkSize& size, Precision precision, const BenchmarkResult& r) {
  return common_json(size, precision, r.parameters)
             .set("ms_per_step", decimals(r.seconds * 1e3, 3))
             .set("tokens_per_s", int64_t{std::lround(static_cast<double>(r.tokens) / r.seconds)})
             .set("loss", decimals(r.loss, 4))
             .set("peak_rss_mb", decimals(r.peak_memory / mib, 1))
             .set("working_mb", decimals(r.working_memory / mib, 1))
             .set("precision", precision_name(precision))
             .set("steps", r.steps)
             .set("exchange_ms", decimals(r.exchange * 1e3, 3))
             .set("gflops_per_s", decimals(r.flops_per_second() / 1e9, 2))
             .set("gemm_gflops_per_s", decimals(r.gemm / 1e9, 2))
             .set("share_of_gemm", decimals(r.flops_per_second() / r.gemm, 4))
             .text() +
         "\n";
}

std::string table_head() {
  return fmt::format("{:<10}  {:>11}  {:>9}  {:>9}  {:>7}  {:>8}  {:>8}  {:>10}  {:>10}\n", "size",
                     "parameters", "ms/step", "tokens/s", "loss", "GFLOP/s", "of gemm",
                     "working MB", "peak MB");
}

std::string table_row(const BenchmarkSize& size, const BenchmarkResult& r) {
  return fmt::format(
      "{:<10}  {:>11}  {:>9.3f}  {:>9.0f}  {:>7.4f}  {:>8.1f}  {:>6.1f} %  {:>10.1f}  {:>10.1f}\n",
      size.name, r.parameters, r.seconds * 1e3, static_cast<double>(r.tokens) / r.seconds, r.loss,
      r.flops_per_second() / 1e9, 100 * r.flops_per_second() / r.gemm, r.working_memory / mib,
      r.peak_memory / mib);
}

// Waits for a process and returns its exit code.
int exit_code(Process process, const BenchmarkSize& size) {
  const ProcessEnd end = process.wait();
  check(end.signal == 0, "bench: size {} was stopped by signal {}{}", size.name, end.signal,
        end.signal == SIGKILL ? "; perhaps memory ran out" : "");
  return end.code;
}

// First the keys that bench/pytorch_generate.py prints too.
std::string as_json(const BenchmarkSize& size, Precision precision, const GenerationTask& task,
                    const GenerationResult& r) {
  return common_json(size, precision, r.parameters)
             .set("batch", task.batch)
             .set("cache", task.cache)
             .set("positions", r.positions)
             .set("tokens", r.tokens)
             .set("tokens_per_s", decimals(r.tokens_per_second(), 1))
             .set("precision", precision_name(precision))
             .set("weight_mb", decimals(r.weight_bytes / mib, 1))
             .set("read_gb_per_s", decimals(r.bytes_per_second() / 1e9, 2))
             .set("memory_gb_per_s", decimals(read_bandwidth() / 1e9, 2))
             .set("share_of_memory", decimals(r.bytes_per_second() / read_bandwidth(), 4))
             .text() +
         "\n";
}

int bench_generation(const BenchArguments& arguments, const std::vector<BenchmarkSize>& sizes,
                     Precision precision) {
  const GenerationTask task{arguments.batch.value_or(1), !arguments.no_cache};
  if (!arguments.json)
    print_wrapped(fmt::format("{:<10}  {:>11}  {:>5}  {:>9}  {:>10}  {:>9}  {:>5}  {:>11}\n",
                              "size", "parameters", "batch", "positions", "weights MB", "tokens/s",
                              "GB/s", "of reading"));
  for (const BenchmarkSize& size : sizes) {
    const GenerationResult r = run_generation(size, task, arguments.seconds);
    if (arguments.json)
      print(as_json(size, precision, task, r));
    else
      print_wrapped(fmt::format(
          "{:<10}  {:>11}  {:>5}  {:>9}  {:>10.1f}  {:>9.1f}  {:>5.1f}  {:>9.1f} %\n", size.name,
          r.parameters, task.batch, r.positions, r.weight_bytes / mib, r.tokens_per_second(),
          r.bytes_per_second() / 1e9, 100 * r.bytes_per_second() / read_bandwidth()));
    std::fflush(stdout);
  }
  if (!arguments.json)
    logging::info("all threads read memory at {:.1f} GB/s", read_bandwidth() / 1e9);
  return exit_done;
}

void print_overhead(const BenchArguments& arguments, const BenchmarkSize& size, Precision precision,
                    const Overhead& o) {
  const double loops = static_cast<double>(o.loops) * o.loop;
  if (arguments.json)
    print(Json::object()
              .set("size", size.name)
              .set("precision", precision_name(precision))
              .set("threads", thread_count())
              .set("ms_per_step", decimals(o.step * 1e3, 4))
              .set("without_loops_ms", decimals(o.without_loops * 1e3, 4))
              .set("loops", o.loops)
              .set("us_per_loop", decimals(o.loop * 1e6, 3))
              .text() +
          "\n");
  else
    print_wrapped(
        fmt::format("{:<10}  {:>9.4f}  {:>13.4f}  {:>9.1f} %  {:>7}  {:>7.2f}  {:>9.1f} %\n",
                    size.name, o.step * 1e3, o.without_loops * 1e3, 100 * o.without_loops / o.step,
                    o.loops, o.loop * 1e6, 100 * loops / o.step));
}

// Returns the sizes named by the user, or all that fit the measurement.
std::vector<BenchmarkSize> chosen_sizes(const BenchArguments& arguments) {
  std::vector<BenchmarkSize> sizes;
  for (const std::string& name : arguments.sizes) sizes.push_back(benchmark_size(name));
  if (sizes.empty())
    for (const BenchmarkSize& size : benchmark_sizes)
      if (arguments.generate ? size.source == 0 : !size.llama) sizes.push_back(size);
  for (const BenchmarkSize& size : sizes)
    check_input(!arguments.generate || size.source == 0,
                "--generate: size {} is an encoder-decoder; choose a language model", size.name);
  return sizes;
}

int BenchArguments::run() const {
  const std::vector<BenchmarkSize> chosen = chosen_sizes(*this);
  check_input(generate || !batch, "--batch is for --generate");
  check_input(!generate || shards == 1, "--shards is for training steps, not for --generate");
  check_input(!overhead || (!generate && shards == 1 && rank_count() == 1),
              "--overhead is for training steps of one process, without --shards");
  check_input(generate || !no_cache, "--no-cache is for --generate");
  check_input(!generate || rank_count() == 1,
              "--generate measures one process: start it without mpirun");
  Experiment settings;
  settings.threads = threads;
  for (const auto& [name, value] : precision_names)
    if (precision == name) settings.precision = value;
  apply_settings(settings);
  std::vector<Experiment> experiments;
  for (const BenchmarkSize& size : chosen) {
    Experiment& experiment = experiments.emplace_back(benchmark_experiment(size));
    experiment.precision = settings.precision;
    experiment.train.shards = shards;
    with_origins({}, [&] {
      experiment.train.validate();
      check_shared(shards);
    });
  }
  const Precision effective = effective_precision(settings.precision);
  if (!json)
    logging::info("{}, {} threads, precision {}", processor_name(), thread_count(),
                  precision_name(effective));
  if (generate) return bench_generation(*this, chosen, effective);
  if (!json)
    print_wrapped(overhead ? fmt::format("{:<10}  {:>9}  {:>13}  {:>11}  {:>7}  {:>7}  {:>11}\n",
                                         "size", "ms/step", "without loops", "of the step", "loops",
                                         "us/loop", "of the step")
                           : table_head());
  for (size_t i = 0; i < chosen.size(); ++i) {
    const BenchmarkSize& size = chosen[i];
    const auto measure = [&] {
      if (overhead)
        return print_overhead(*this, size, effective,
                              measure_overhead(experiments[i], benchmark_corpus(size), seconds));
      const BenchmarkResult result = run_benchmark(experiments[i], benchmark_corpus(size), seconds);
      json ? print(as_json(size, effective, result)) : print_wrapped(table_row(size, result));
    };
    if (rank_count() > 1) {  // MPI knows only this process
      measure();
    } else {
      std::fflush(stdout);  // else both processes would write the buffer
      // No parallel loop has run yet, so no thread is lost.
      const std::optional<Process> child = Process::split("bench: cannot start a process");
      if (!child) {
        measure();
        return exit_done;  // the end of the child process
      }
      if (const int code = exit_code(*child, size); code != exit_done) return code;
    }
  }
  return exit_done;
}

}  // namespace

const Command lab_commands::bench = {
    .name = "bench",
    .summary = "Measure training steps or generation for models of fixed sizes",
    .details =
        "Examples:\n"
        "  heed bench\n"
        "  heed bench --overhead --size micro,tiny\n"
        "  heed bench --generate --size baby --batch 8\n"
        "  heed bench --size tiny,baby --precision medium\n"
        "  heed bench --size gpt2 --seconds 20 --threads 1 --json\n"
        "  heed bench --size tiny,reverse --shards 2\n"
        "  mpirun -n 2 ./heed bench --size baby --shards 2\n\n"
        "bench/compare and bench/generate compare heed with PyTorch.",
    .arguments = make_arguments<BenchArguments>,
    .shared_by_ranks = true,
};

}  // namespace heed
