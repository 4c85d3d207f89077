// heed sweep: trains the runs of a sweep, several at a time.
#include <fmt/format.h>

#include <algorithm>

#include "apps/config/named_run.h"
#include "apps/support/files.h"
#include "apps/support/log.h"
#include "apps/support/numbers.h"
#include "apps/support/table.h"
#include "apps/support/terminal.h"
#include "apps/training/run_record.h"
#include "core/processors.h"
#include "core/system_memory.h"
#include "core/text.h"
#include "lab/commands/room.h"
#include "lab/experiments/comparison.h"
#include "lab/experiments/data_of_sweep.h"
#include "lab/experiments/plan.h"
#include "lab/experiments/run_state.h"
#include "lab/experiments/score_kinds.h"
#include "lab/experiments/sweep_options.h"
#include "lab/experiments/sweep_training.h"

namespace heed {
namespace {

struct SweepCommand final : CommandArguments {
  SweepArguments sweep;
  std::string folder;
  std::optional<int64_t> jobs;
  std::string launcher;
  ComparisonOptions comparison;  // of the table at the end
  bool dry_run = false, fail_fast = false, retry_failed = false, allow_command = false;

  std::vector<Option> options() override {
    constexpr Range counts{1, 1e6}, processes{1, 1e4};
    return {
        {"[SWEEP]", "", &sweep.path, "Sweep to train, or the folder of one to continue"},
        {"--config", "CONFIG", &sweep.config, "Config to train, instead of a SWEEP"},
        {"--axis", "KEY=VALUES", &sweep.axes,
         "Vary a key over these values, such as optim.lr=1e-3,5e-4; may be repeated"},
        {"--seeds", "N|A-B", &sweep.seeds,
         "Train each point with the seeds 1 to N, or with those from A to B"},
        set_option(sweep.set),
        {"--max-runs", "N", &sweep.max_runs, "Maximum number of runs (default: 100)", counts},
        {"--run", "DIR", &folder,
         "Folder of the sweep (default: runs/<SWEEP>, or runs/<CONFIG>-sweep)"},
        {"--jobs", "N", &jobs,
         "Number of runs to train at a time, with one thread each unless the config sets threads "
         "(default: as many as the physical cores allow)",
         processes},
        {"--launcher", "COMMAND", &launcher,
         "Command to put before each run's own command, such as \"srun -n1\""},
        score_option(comparison.score),
        columns_option(comparison.columns),
        {"--dry-run", "", &dry_run, "List the runs, their states and costs; train nothing"},
        {"--fail-fast", "", &fail_fast, "Stop the other runs when one fails"},
        {"--retry-failed", "", &retry_failed, "Resume runs that failed before"},
        {"--allow-command", "", &allow_command,
         "Start the data.command of a SWEEP that is a folder, which may come from anybody"}};
  }
  int run() const override;

 private:
  int train(const Sweep& read, const SweepPlan& plan, const std::string& path,
            int64_t at_once) const;
};

// The cost of the runs, as a table.
std::string costs(const SweepPlan& plan, int64_t jobs) {
  Table table{{{"run", "state", "parameters", "FLOPs a step", "time left"}}, {}};
  LastCorpus corpora;
  double total = 0, step_time = 0;
  size_t measured = plan.points.size();  // the point of step_time
  for (const PlannedRun& run : plan.runs) {
    if (!run.refusal.empty()) {
      table.rows.push_back({run.name, "refused", "", "", ""});
      continue;
    }
    const RunState state = state_of(run.path);
    if (run.point != measured) step_time = step_seconds(run, corpora.of(run.config));
    measured = run.point;
    const double seconds = state == RunState::done
                               ? 0
                               : step_time * static_cast<double>(run.config.experiment.train.steps -
                                                                 saved_step(run.path));
    total += seconds;
    table.rows.push_back({run.name, name_of(run_state_names, state), std::to_string(run.parameters),
                          flops_text(run.flops.total()), logging::clock_text(seconds)});
  }
  const std::string whole_time = logging::clock_text(total / static_cast<double>(jobs));
  table.notes = {"", fmt::format("{} by one measured step of each point, without evaluations, with "
                                 "{} at a time and one thread each",
                                 whole_time, counted(jobs, "run"))};
  return table.text(2);
}

void report_refusals(const SweepPlan& plan) {
  size_t last = plan.points.size();
  for (const PlannedRun& run : plan.runs) {
    if (run.refusal.empty() || run.point == last) continue;
    last = run.point;  // once for all its seeds
    logging::warning("{} is refused: {}", run.name, run.refusal);
  }
}

// Returns what `heed compare` prints for the runs that are done or failed; "" if none is done.
std::string results(const SweepPlan& plan, const ComparisonOptions& options) {
  std::vector<std::string> ended;
  bool any_scores = false;
  for (const PlannedRun& run : plan.runs) {
    if (!run.refusal.empty()) continue;
    const RunState state = state_of(run.path);
    any_scores = any_scores || state == RunState::done;
    if (state == RunState::done || state == RunState::failed) ended.push_back(run.path);
  }
  return any_scores ? comparison_of(load_runs(ended), options) : "";
}

// Writes a file, unless it has this text already: other sweeps may read it.
void write_shared(const std::string& path, const std::string& text) {
  if (!exists(path) || read_file(path, "file of a sweep") != text) write_file(path, text);
}

// Records where the config, [set] and --set set the keys of the base. A sweep that is continued
// from its folder has forgotten that, so the record stays as it was first written.
void record_origins(const Sweep& read, const std::string& sweep_file, const std::string& folder) {
  const std::string path = own_file(folder, origins_file);
  if (exists(path)) return;
  Experiment experiment;
  Json json = Json::object();
  for (const auto& [key, origin] : read.base.fill(experiment))
    json.set(key, escaped(origin.location()) +
                      (!sweep_file.empty() && origin.file == sweep_file ? " [set]" : ""));
  write_shared(path, json.text(2) + "\n");
}

bool has_command(const Sweep& sweep) {
  const auto varies = [](const AxisGroup& group) {
    return std::ranges::find(group, "data.command", &Axis::key) != group.end();
  };
  return !experiment_of(sweep).data.command.empty() || std::ranges::any_of(sweep.groups, varies);
}

int64_t default_jobs(const Sweep& sweep) {
  return std::max<int64_t>(1,
                           physical_cores() / std::max<int64_t>(1, experiment_of(sweep).threads));
}

int SweepCommand::train(const Sweep& read, const SweepPlan& plan, const std::string& path,
                        int64_t at_once) const {
  make_folders(path);
  const std::string base = own_file(path, base_file);
  {
    const SweepLock lock(path);
    record_data_of_sweep(read, plan, path);
    write_shared(base, config_text(list_config(experiment_of(read))));
    if (!is_folder(sweep.path)) record_origins(read, sweep.path, path);
    write_shared(sweep_file(path), sweep_text(read, base_file));
  }
  logging::info("sweep {}: {}, {} at a time", path, counted(std::ssize(plan.runs), "run"), at_once);
  SweepTraining training(read, plan, {path, base, at_once, launcher, fail_fast, retry_failed});
  const SweepTraining::End end = training.run();
  if (const std::string table = results(plan, comparison); !table.empty())
    print_wrapped(table);
  else if (end == SweepTraining::End::failed)
    logging::error(
        "{}: no run is done, so there is no table; --retry-failed resumes the runs that "
        "failed",
        path);
  if (end == SweepTraining::End::interrupted) {
    logging::info("interrupted and saved; the same command continues");
    return exit_interrupted;
  }
  const bool refused =
      end == SweepTraining::End::refused ||
      std::ranges::any_of(plan.runs, [](const PlannedRun& run) { return !run.refusal.empty(); });
  return end == SweepTraining::End::failed ? exit_failed : refused ? exit_misused : exit_done;
}

int SweepCommand::run() const {
  SweepArguments read_from = sweep;
  const bool continues = is_folder(sweep.path);
  if (continues) read_from.path = sweep_file(sweep.path);
  check_input(!sweep.path.empty() || !sweep.config.empty(),
              "sweep needs a sweep or a config: heed sweep SWEEP.toml, or heed sweep --config "
              "CONFIG --axis optim.lr=1e-3,5e-4");
  const std::string path = !folder.empty() ? folder
                           : continues     ? sweep.path
                           : !sweep.path.empty()
                               ? in_folder("runs", first_name(stem_of(sweep.path)))
                               : in_folder("runs", stem_of(sweep.config) + "-sweep");
  check_score_names("--score", {comparison.score});
  check_score_names("--columns", comparison.columns);
  const Sweep read = read_sweep(read_from);
  check_input(!continues || allow_command || !has_command(read),
              "{}: its examples come from a program: look at data.command in {}, and start it with "
              "--allow-command",
              path, base_file);
  check_folder(read, path);
  const SweepPlan plan = plan_sweep(read, path, program->measures);
  check_data_of_sweep(read, plan, path);
  report_refusals(plan);
  check_input(
      std::ranges::any_of(plan.runs, [](const PlannedRun& run) { return run.refusal.empty(); }),
      "{}: each of its {} is refused", path, counted(std::ssize(plan.runs), "run"));
  const int64_t at_once = jobs.value_or(default_jobs(read));
  if (launcher.empty()) check_jobs(plan, at_once, available_memory());  // else perhaps elsewhere
  if (!dry_run) return train(read, plan, path, at_once);
  print_wrapped((read.options.question.empty() ? "" : read.options.question + "\n\n") +
                costs(plan, at_once));
  return exit_done;
}

}  // namespace

const Command lab_commands::sweep = {
    .name = "sweep",
    .summary = "Train a config with several values of its keys and several seeds",
    .details =
        "To continue after an interruption, run the same command again; finished runs are kept.\n"
        "Exit codes: 0 all runs are done, 1 a run failed, 2 the config or the data of a run "
        "were rejected.\n"
        "docs/experiments.md describes the format of a sweep.\n\n"
        "Examples:\n"
        "  heed sweep configs/sweeps/rate.toml --dry-run\n"
        "  heed sweep --config configs/sort.toml --axis optim.lr=1e-3,5e-4 --seeds 6\n"
        "  heed sweep runs/rate --launcher \"srun -n1\" --jobs 32",
    .arguments = make_arguments<SweepCommand>,
};

}  // namespace heed
