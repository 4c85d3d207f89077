#include "lab/experiments/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "apps/support/clock.h"
#include "apps/support/digest.h"
#include "apps/support/files.h"
#include "apps/support/numbers.h"
#include "apps/training/checkpoint.h"
#include "apps/training/load_data.h"
#include "apps/training/run_record.h"
#include "apps/training/training_loop.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/text.h"
#include "lab/experiments/groups.h"
#include "lab/experiments/halving.h"
#include "lab/experiments/run_state.h"

namespace heed {
namespace {

PlannedRun planned_run(const Sweep& sweep, const SweepPlan& plan, size_t point, int64_t seed) {
  PlannedRun run;
  run.point = point;
  run.seed = seed;
  run.name = fmt::format("{}{}seed-{}", plan.points[point].name,
                         plan.points[point].name.empty() ? "" : "/", seed);
  ConfigSource source = sweep.base;
  for (const auto& [key, value] : plan.points[point].values) {
    source.set(key, value.value);
    run.assignments.push_back(fmt::format("{}={}", key, value.text));
  }
  run.assignments.push_back(fmt::format("seed={}", seed));
  source.set(run.assignments.back());
  run.config.origins = source.fill(run.config.experiment);
  if (run.config.experiment.threads == 0) run.assignments.emplace_back("threads=1");
  return run;
}

// Throws InputError for what `heed train` would refuse.
void check_run(PlannedRun& run, const Sweep& sweep, LastCorpus& corpora, Measures known) {
  const Experiment& experiment = run.config.experiment;
  with_origins(run.config.origins, [&] { experiment.validate(); });
  const Corpus& corpus = corpora.of(run.config);
  const Summary summary = with_origins(run.config.origins, [&] {
    run.config.experiment.take_all_examples(corpus);
    Summary planned = summarize(experiment, corpus);
    check_memory(planned);
    check_validation_data(experiment, corpus);
    if (!experiment.train.measures.empty()) {
      const auto model = make_model(experiment, corpus);
      chosen_measures(*model, experiment, corpus, known);
    }
    return planned;
  });
  if (sweep.options.method == SweepMethod::halving)
    check_rungs(sweep.options.halving.rungs, experiment);
  run.parameters = summary.parameters;
  run.flops = summary.flops;
  run.data = DataFiles::of(corpus);
  run.memory = summary.memory.peak();
  run.identity = identity_of(list_config(experiment), corpus.fingerprint);
}

ConfigListing config_of(const RunFolder& run) {
  return config_with_changes(segments_of(run, load_run_config(run.config(), {}).experiment));
}

// A run in the folder of a sweep. One that is damaged has no identity, but an error.
struct Found {
  std::string identity, error;
};

std::map<std::string, Found> find_by_path(const std::string& folder) {
  std::map<std::string, Found> found;
  for (const std::string& path : runs_in(folder)) try {
      if (const auto identity = identity_of(RunFolder::open(path))) found[path] = {*identity, ""};
    } catch (const InputError& error) {
      found[path] = {"", error.what()};
    }
  return found;
}

// Returns why the run at the path of a planned one is another.
std::string refusal_of(const PlannedRun& run, const Found& here) {
  if (!here.error.empty())
    return fmt::format("{}: holds a damaged run: {}; repair it, or move it away", run.path,
                       here.error);
  const ConfigListing before = config_of(RunFolder::open(run.path));
  std::vector<std::string> keys;
  for (const auto& [was, is] : config_differences(before, list_config(run.config.experiment)))
    if (was.changes_result())
      keys.push_back(
          fmt::format("{} = {}, now {}", was.key, shortened(was.text()), shortened(is.text())));
  return keys.empty()
             ? fmt::format("{}: holds a run on other data; restore the data, or move it away",
                           run.path)
             : fmt::format("{}: holds a run of another config: {}; move it away", run.path,
                           joined(keys, "; "));
}

// Gives each run its folder: that of a run with its identity, or one of its name.
void assign_folders(SweepPlan& plan, const std::string& folder) {
  const std::map<std::string, Found> found = find_by_path(folder);
  std::map<std::string, std::string> by_identity, names;
  for (const auto& [path, each] : found) by_identity.emplace(each.identity, path);
  for (PlannedRun& run : plan.runs) {
    run.path = in_folder(folder, run.name);
    if (!run.refusal.empty()) continue;
    const auto [other, is_new] = names.emplace(run.identity, run.name);
    const auto here = found.find(run.path);
    const auto same = by_identity.find(run.identity);
    if (!is_new)
      run.refusal = fmt::format("the same run as {}", other->second);
    else if (here != found.end() && here->second.identity == run.identity)
      continue;
    else if (same != by_identity.end())
      run.path = same->second;
    else if (here != found.end())
      run.refusal = refusal_of(run, here->second);
  }
}

}  // namespace

std::string identity_of(const ConfigListing& config, const std::string& fingerprint) {
  const std::string settings =
      lines_of(config, [](const ConfigEntry& entry) { return entry.changes_result(); });
  return sha256(fmt::format("{}\ndata {}\n", settings, fingerprint));
}

std::optional<std::string> identity_of(const RunFolder& run) {
  if (saved_step(run.path()) == 0) return std::nullopt;
  const Checkpoint checkpoint = Checkpoints(run.checkpoints(), 1).open("latest");
  return identity_of(config_of(run), checkpoint.state().at("data").string());
}

SweepPlan plan_sweep(const Sweep& sweep, const std::string& folder, Measures known) {
  SweepPlan plan;
  plan.points = points_of(sweep);
  plan.metric = metric_of(sweep.options.halving.metric, experiment_of(sweep));
  const size_t seeds = sweep.options.seeds.size();
  for (size_t point = 0; point < plan.points.size(); ++point)
    for (const int64_t seed : sweep.options.seeds)
      plan.runs.push_back(planned_run(sweep, plan, point, seed));
  LastCorpus corpora;
  // All points of one seed in a row, because the data depend on the seed.
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    PlannedRun& run = plan.runs[i % plan.points.size() * seeds + i / plan.points.size()];
    try {
      check_run(run, sweep, corpora, known);
    } catch (const InputError& error) {
      run.refusal = error.what();
    }
  }
  assign_folders(plan, folder);
  return plan;
}

void check_jobs(const SweepPlan& plan, int64_t jobs, double available) {
  std::vector<double> memory;
  for (const PlannedRun& run : plan.runs)
    if (run.refusal.empty() && state_of(run.path) != RunState::done) memory.push_back(run.memory);
  std::ranges::sort(memory, std::greater<>());
  memory.resize(std::min(memory.size(), static_cast<size_t>(jobs)));
  double total = 0;
  int64_t fitting = 0;
  for (const double each : memory) {
    total += each;
    if (total <= available) ++fitting;
  }
  check_input(total <= available,
              "{} at a time need about {} of memory, this machine has {} left; use --jobs {}",
              counted(std::ssize(memory), "run"), bytes_text(total), bytes_text(available),
              std::max<int64_t>(1, fitting));
}

void check_folder(const Sweep& sweep, const std::string& folder) {
  // A sweep that is killed at its start may leave these.
  const std::vector<std::string> names = names_in_folder(folder);
  const bool is_new = std::ranges::all_of(names, [](const std::string& name) {
    return name == base_file || name == DataRecord::file || name == origins_file || name[0] == '.';
  });
  if (is_new && (!exists(folder) || is_folder(folder))) return;
  const std::string file = sweep_file(folder);
  check_input(is_folder(folder) && exists(file),
              "{}: expected a new folder or that of this sweep, but it has no sweep.toml; choose "
              "another with --run",
              folder);
  SweepArguments stored;
  stored.path = file;
  stored.max_runs = int64_t{1} << 40;
  const Sweep before = read_sweep(stored);
  std::string differences;
  const auto differ = [&](const ConfigEntry& was, const ConfigEntry& is) {
    differences += fmt::format("{}{} = {}, now {}", differences.empty() ? "" : "; ", was.key,
                               shortened(was.text()), shortened(is.text()));
  };
  const auto options_of = [](const Sweep& s) {
    SweepOptions options = s.options;
    options.random.count = 0;
    return list_config(options);
  };
  for (const auto& [was, is] : config_differences(options_of(before), options_of(sweep)))
    if (was.key == "method" || was.key.starts_with("random.") || was.key.starts_with("halving."))
      differ(was, is);
  std::set<std::string> varying = {"seed"};
  for (const AxisGroup& group : sweep.groups)
    for (const Axis& axis : group) varying.insert(axis.key);
  for (const auto& [was, is] :
       config_differences(list_config(experiment_of(before)), list_config(experiment_of(sweep))))
    if (!varying.contains(was.key) && was.changes_result()) differ(was, is);
  check_input(differences.empty(),
              "{}: holds another sweep: {}; choose another folder with --run, or remove this one",
              folder, differences);
}

const Corpus& LastCorpus::of(const LoadedConfig& config) {
  const std::string settings =
      lines_of(list_config(config.experiment), [](const ConfigEntry& entry) {
        const std::string& key = entry.key;
        return key == "seed" || key == "model.kind" || key == "train.new_tokens" ||
               key.starts_with("data.") || key.starts_with("train.load");
      });
  if (!corpus_ || settings != settings_) {
    corpus_.reset();
    corpus_ = std::make_unique<Corpus>(load_data(config));
    settings_ = settings;
  }
  return *corpus_;
}

double step_seconds(const PlannedRun& run, const Corpus& corpus) {
  Experiment experiment = run.config.experiment;
  if (experiment.threads == 0) experiment.threads = 1;
  apply_settings(experiment);
  Trainer trainer(experiment, corpus);
  trainer.step();  // allocates
  const double start = now();
  trainer.step();
  return now() - start;
}

}  // namespace heed
