// heed profile: prints the time and the memory of a training step by operation and by layer.
#include "lab/measure/profile.h"

#include <fmt/format.h>

#include "apps/config/load_config.h"
#include "apps/cost/summary.h"
#include "apps/support/files.h"
#include "apps/support/json.h"
#include "apps/support/log.h"
#include "apps/support/machine.h"
#include "apps/support/terminal.h"
#include "apps/training/saved_run.h"
#include "core/joined.h"
#include "core/parallel.h"
#include "lab/commands/room.h"
#include "lab/measure/benchmark.h"

namespace heed {
namespace {

struct ProfileArguments final : CommandArguments {
  std::optional<std::string> path, size;
  std::vector<std::string> set;
  int64_t steps = 10;
  std::optional<std::string> trace;
  bool json = false;
  bool generate = false;
  std::optional<int64_t> batch;  // of generation

  std::vector<Option> options() override {
    constexpr const char* generation = "Generation with a language model";
    constexpr Range any, batches{1, 1 << 16};
    return {{"[CONFIG|RUN]", "", &path, "Config of the model, or folder of a run"},
            {"--size", "NAME", &size,
             fmt::format("Profile a size of `heed bench` instead: {}", joined(benchmark_names()))},
            set_option(set),
            {"--steps", "COUNT", &steps, "Steps to profile (default: 10)", {1, 100}},
            {"--trace", "FILE", &trace,
             "Write the trace of one step, for Perfetto or chrome://tracing"},
            json_option(json),
            {"--generate", "", &generate,
             "Profile a generated token, with --size; STEPS is then a number of texts", any,
             generation},
            {"--batch", "COUNT", &batch, "Texts to generate at once (default: 1)", batches,
             generation}};
  }
  int run() const override;

 private:
  int run_generation() const;
};

constexpr int name_width = 38;

double per_second(double amount, double seconds) { return seconds > 0 ? amount / seconds : 0; }

// "" unless the value is positive.
std::string positive(double value, int decimals) {
  return value > 0 ? fmt::format("{:.{}f}", value, decimals) : "";
}

std::string trimmed(const std::string& line) {
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string rate_names(const char* unit) {
  return fmt::format("ms  {:>8}   GFLOP/s    GB/s       MiB  of limit", fmt::format("of {}", unit));
}

// Returns a line of a table: a name, some columns, then time and rates.
std::string line_of(const std::string& name, const std::string& columns, const ProfileRow& row,
                    const Profile& p) {
  const std::string limit = positive(100 * per_second(row.least_seconds, row.seconds), 1);
  return trimmed(fmt::format("{:<{}}  {}  {:>9.3f}  {:>6.1f} %  {:>8}  {:>6}  {:>8}  {:>8}", name,
                             name_width, columns, 1e3 * row.seconds,
                             100 * per_second(row.seconds, p.seconds),
                             positive(per_second(row.cost.flops, row.seconds) / 1e9, 1),
                             positive(per_second(row.cost.bytes, row.seconds) / 1e9, 1),
                             positive(row.cost.bytes / mib, 2), limit.empty() ? "" : limit + " %"));
}

void add_rows(const char* title, const std::vector<ProfileRow>& rows, const Profile& p,
              std::string& text) {
  ProfileRow sum;
  for (const ProfileRow& row : rows) sum += row;
  const auto add = [&](const std::string& name, const ProfileRow& row) {
    text += line_of(name, fmt::format("{:>6.4g}", row.calls), row, p);
  };
  if (*title) add(title, sum);
  for (const ProfileRow& row : rows) add(*title ? "  " + row.name : row.name, row);
}

std::string operations_table(const Profile& p, const char* unit) {
  std::string text = fmt::format("{:<{}}  {:>6}         {}\n", "by operation", name_width, "calls",
                                 rate_names(unit));
  add_rows("forward", p.forward, p, text);
  if (!p.backward.empty()) add_rows("backward", p.backward, p, text);
  add_rows("", p.rest, p, text);
  return text + fmt::format("{:<{}}  {:>6}  {:>9.3f}\n", unit, name_width, "", 1e3 * p.seconds);
}

std::string layers_table(const Profile& p, const char* unit) {
  std::string text = fmt::format("{:<{}}  {:>10}  {:>11}         {}\n", "by layer", name_width,
                                 "forward ms", "backward ms", rate_names(unit));
  for (const LayerRow& layer : p.layers) {
    ProfileRow sum = layer.forward;
    sum += layer.backward;
    const std::string columns = fmt::format("{:>10.3f}  {:>11.3f}", 1e3 * layer.forward.seconds,
                                            1e3 * layer.backward.seconds);
    text += line_of(layer.name, columns, sum, p);
  }
  for (const ProfileRow& row : p.rest) text += line_of(row.name, fmt::format("{:>23}", ""), row, p);
  return text + fmt::format("{:<{}}  {:>23}  {:>9.3f}\n", unit, name_width, "", 1e3 * p.seconds);
}

// Explains rows above the limit, if the tables have any.
std::string note_on_limit(const Profile& p) {
  if (highest_fraction_of_limit(p) < 1.0005) return "";  // the tables round it to 100.0 %
  return "of limit: above 100 % the data were in a cache of the processor, which is faster than "
         "memory\n";
}

std::string memory_table(const StepMemory& m) {
  std::string text;
  const auto line = [&](const std::string& name, double bytes, const std::string& note = "") {
    text += trimmed(fmt::format("{:<{}}  {:>10.2f}  {}", name, name_width, bytes / mib, note));
  };
  text += fmt::format("{:<{}}  {:>10}\n", "memory", name_width, "MiB");
  line("peak", m.peak, "in " + m.moment);
  line("  parameters", m.parameters);
  line("  gradients of parameters", m.gradients);
  line("  optimizer state", m.optimizer);
  line("  other, from before the step", m.before);
  constexpr std::pair<Pass, const char*> notes[] = {
      {Pass::forward, "what operations keep for backward"},
      {Pass::backward, "gradients of activations, temporaries"},
      {Pass::other, ""}};
  for (const auto& [pass, note] : notes) {
    if (m.held(pass) == 0) continue;
    line(fmt::format("  {}", name_of(passes, pass)), m.held(pass), note);
    for (const StepMemory::Holder& holder : m.holders)
      if (holder.pass == pass) line("    " + holder.name, holder.bytes);
  }
  return text;
}

std::string limits(const Profile& p, const Experiment& experiment) {
  return fmt::format("{}, {} threads, precision {}: {:.1f} GFLOP/s, {:.1f} GB/s\n",
                     processor_name(), thread_count(),
                     precision_name(effective_precision(experiment.precision)), p.gemm / 1e9,
                     p.bandwidth / 1e9);
}

std::string head(const Profile& p, const Experiment& experiment) {
  return limits(p, experiment) +
         fmt::format(
             "a step of {:.3f} ms, of {} profiled; {:.3f} ms when not profiled; loss {:.4f}\n",
             1e3 * p.seconds, p.steps, 1e3 * p.unprofiled_seconds, p.loss);
}

Json row_json(const ProfileRow& row) {
  Json json = Json::object();
  if (!row.name.empty()) json.set("name", row.name);
  return json.set("calls", row.calls)
      .set("ms", 1e3 * row.seconds)
      .set("flops", row.cost.flops)
      .set("bytes", row.cost.bytes)
      .set("least_ms", 1e3 * row.least_seconds);
}

Json as_json(const StepMemory& m) {
  const auto holder_json = [](const StepMemory::Holder& holder) {
    return Json::object()
        .set("pass", name_of(passes, holder.pass))
        .set("name", holder.name)
        .set("bytes", holder.bytes);
  };
  return Json::object()
      .set("peak", m.peak)
      .set("in", m.moment)
      .set("parameters", m.parameters)
      .set("gradients", m.gradients)
      .set("optimizer", m.optimizer)
      .set("before", m.before)
      .set("step", Json::list(m.holders, holder_json));
}

Json generation_json(const Profile& p, const Experiment& experiment, int64_t batch) {
  return Json::object()
      .set("threads", thread_count())
      .set("precision", precision_name(effective_precision(experiment.precision)))
      .set("batch", batch)
      .set("gemm_gflops_per_s", p.gemm / 1e9)
      .set("memory_gb_per_s", p.bandwidth / 1e9)
      .set("profiled_token_ms", 1e3 * p.seconds)
      .set("token_ms", 1e3 * p.unprofiled_seconds)
      .set("forward", Json::list(p.forward, row_json))
      .set("rest", Json::list(p.rest, row_json));
}

Json as_json(const Profile& p, const Experiment& experiment) {
  const auto layer_json = [](const LayerRow& layer) {
    return Json::object()
        .set("name", layer.name)
        .set("forward", row_json(layer.forward))
        .set("backward", row_json(layer.backward));
  };
  return Json::object()
      .set("threads", thread_count())
      .set("precision", precision_name(effective_precision(experiment.precision)))
      .set("gemm_gflops_per_s", p.gemm / 1e9)
      .set("memory_gb_per_s", p.bandwidth / 1e9)
      .set("steps", p.steps)
      .set("profiled_step_ms", 1e3 * p.seconds)
      .set("step_ms", 1e3 * p.unprofiled_seconds)
      .set("loss", p.loss)
      .set("forward", Json::list(p.forward, row_json))
      .set("backward", Json::list(p.backward, row_json))
      .set("rest", Json::list(p.rest, row_json))
      .set("layers", Json::list(p.layers, layer_json))
      .set("memory_bytes", as_json(p.memory));
}

int ProfileArguments::run_generation() const {
  check_input(size.has_value() && !path, "--generate profiles a size of `heed bench`: add --size");
  check_input(!trace, "--trace is for training steps, not for --generate");
  const BenchmarkSize& fixed = benchmark_size(*size);
  check_input(fixed.source == 0,
              "--generate: size {} is an encoder-decoder; choose a language model", fixed.name);
  const LoadedConfig config = with_assignments(benchmark_experiment(fixed), set);
  const Experiment& experiment = config.experiment;
  apply_settings(experiment);
  const Corpus corpus = benchmark_corpus(fixed);
  const GenerationTask task{.batch = batch.value_or(1)};
  const Profile p = with_origins(config.origins, [&] {
    check_input(experiment.model.kind == ModelKind::language_model,
                "--generate needs model.kind = \"language_model\"");
    return profile_generation(experiment, corpus, task, steps);
  });
  if (json) {
    print(fmt::format("{}\n", generation_json(p, experiment, task.batch).text()));
  } else {
    print_wrapped(limits(p, experiment));
    print_wrapped(fmt::format(
        "a token of {} texts of {} takes {:.3f} ms, of {} profiled; {:.3f} ms when "
        "not profiled\n\n{}\n{}{}",
        task.batch, corpus.longest_input, 1e3 * p.seconds, p.steps, 1e3 * p.unprofiled_seconds,
        operations_table(p, "token"), layers_table(p, "token"), note_on_limit(p)));
  }
  return exit_done;
}

int ProfileArguments::run() const {
  check_input(generate || !batch, "--batch is for --generate");
  if (generate) return run_generation();
  check_input(path.has_value() != size.has_value(), "profile: expected CONFIG, RUN or --size");
  const std::string trace_file = trace ? output_path(*trace, {".json"}) : "";
  const BenchmarkSize* const fixed = size ? &benchmark_size(*size) : nullptr;
  LoadedConfig config =
      fixed ? with_assignments(benchmark_experiment(*fixed), set) : load_config_or_run(*path, set);
  const Experiment& experiment = config.experiment;
  apply_settings(experiment);
  const Corpus corpus = fixed ? benchmark_corpus(*fixed) : load_data(config);
  const Profile result = with_origins(config.origins, [&] {
    config.experiment.take_all_examples(corpus);
    check_memory(summarize(experiment, corpus));
    return profile_training(experiment, corpus, steps);
  });
  if (trace) write_file(trace_file, chrome_trace(result));
  if (json)
    print(fmt::format("{}\n", as_json(result, experiment).text()));
  else
    print_wrapped(fmt::format("{}\n{}\n{}{}\n{}", head(result, experiment),
                              operations_table(result, "step"), layers_table(result, "step"),
                              note_on_limit(result), memory_table(result.memory)));
  if (trace) logging::info("{}: one step, for https://ui.perfetto.dev or chrome://tracing", *trace);
  return exit_done;
}

}  // namespace

const Command lab_commands::profile = {
    .name = "profile",
    .summary = "Profile training steps, or generation: time and memory by operation and by layer",
    .details =
        "Examples:\n"
        "  heed profile configs/reverse.toml\n"
        "  heed profile configs/sort.toml --set model.layers=6 --steps 3 --trace step.json\n"
        "  heed profile --size baby --set precision=medium\n"
        "  heed profile --generate --size gpt2\n\n"
        "The limit of an operation is the time that its FLOPs take at the rate of the fastest "
        "matrix product, or its bytes at memory bandwidth, whichever is longer. More than 100 % of "
        "the limit means that the data were in a cache. The time of a forward operation includes "
        "everything since the operation before it.",
    .arguments = make_arguments<ProfileArguments>,
};

}  // namespace heed
