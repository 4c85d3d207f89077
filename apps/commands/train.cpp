// heed train: starts a run from a config, or resumes one.

#include <functional>
#include <limits>

#include "apps/commands/room.h"
#include "apps/config/named_run.h"
#include "apps/cost/data_report.h"
#include "apps/cost/notice.h"
#include "apps/cost/summary.h"
#include "apps/support/files.h"
#include "apps/support/log.h"
#include "apps/support/machine.h"
#include "apps/support/numbers.h"
#include "apps/support/shell.h"
#include "apps/support/terminal.h"
#include "apps/support/together.h"
#include "apps/training/data_record.h"
#include "apps/training/example_program.h"
#include "apps/training/load_data.h"
#include "apps/training/loop_state.h"
#include "apps/training/next_command.h"
#include "apps/training/reproduction.h"
#include "apps/training/run_record.h"
#include "apps/training/run_writer.h"
#include "apps/training/saved_run.h"
#include "apps/training/training_loop.h"
#include "core/joined.h"
#include "core/kernels/gemm/view.h"
#include "core/parallel.h"
#include "core/text.h"

namespace heed {
namespace {

struct TrainArguments final : CommandArguments {
  std::string config;  // with --resume it may be the folder of the run
  std::vector<std::string> set;
  std::string run_path, from, sweep;
  bool resume = false, allow_command = false;
  int64_t until = std::numeric_limits<int64_t>::max();

  std::vector<Option> options() override {
    return {
        {"[CONFIG]", "", &config, "Config to train; not needed with --resume and --from"},
        set_option(set),
        {"--run", "DIR", &run_path,
         "Folder of the run (default: runs/<config>, or runs/<config>-2 and so on if that exists)"},
        {"--resume", "", &resume, "Continue from the newest checkpoint of the run"},
        {"--from", "RUN", &from,
         "Train this run again, in a new folder, and say whether the bits agree, or without a "
         "checkpoint the metrics; exit code 1 if they do not"},
        {"--until", "STEP", &until,
         "Pause at this step: save and exit; the schedule stays that of train.steps", at_least(1)},
        {"--sweep", "DIR", &sweep,
         "Train only if the data are those that the sweep in DIR began with; `heed sweep` sets "
         "it"},
        {"--allow-command", "", &allow_command,
         "Start the data.command of the run that --resume or --from names; a folder may come from "
         "anybody, so look at its config.toml first"}};
  }
  int run() const override;
};

struct Plan {
  std::string run_path;  // "": a new name
  bool resumes = false;
  LoadedConfig config;
  std::optional<Reproduction> first = {};  // --from
  // What the run that is resumed was trained with up to its newest checkpoint, at this step.
  std::optional<Experiment> before = {};
  int64_t done = 0;
};

Plan plan_of(TrainArguments a) {
  if (!a.from.empty()) {
    check_input(a.config.empty() && !a.resume,
                "--from {}: its config is that of the run: remove {}", a.from,
                a.resume ? "--resume" : a.config);
    check_input(is_folder(a.from) || !exists(a.from),
                "--from {0}: expected the folder of a run, found a file; unpack an archive first: "
                "tar -xzf {0}",
                a.from);
    Reproduction first(a.from, a.set);
    LoadedConfig again = first.config();
    return {a.run_path, false, std::move(again), std::move(first), {}, 0};
  }
  if (a.resume)
    for (std::string* path : {&a.config, &a.run_path}) *path = from_first_rank(named_run(*path));
  if (a.resume && a.run_path.empty() && names_run(a.config)) std::swap(a.run_path, a.config);
  check_input(!a.resume || !a.run_path.empty(),
              "--resume needs a run: heed train --resume --run runs/NAME, or runs/latest for the "
              "newest");
  check_input(a.resume || !a.config.empty(),
              "train needs a config, such as heed train configs/reverse.toml");
  // --resume with a config starts the run if there is none.
  if (!a.resume || (!a.config.empty() && !is_run(a.run_path)))
    return {a.run_path, false, load_config(a.config, a.set), {}, {}, 0};
  const RunFolder run = RunFolder::open(a.run_path);
  const LoadedConfig before = load_run_config(run.config(), {});
  LoadedConfig now =
      a.config.empty() ? load_run_config(run.config(), a.set) : load_config(a.config, a.set);
  now.run_vocabulary = before.run_vocabulary;
  if (now.experiment.train.batch_size == 0)
    now.experiment.train.batch_size = before.experiment.train.batch_size;
  const int64_t done = Checkpoints(run.checkpoints(), 1).newest_step();
  const Experiment trained = experiment_at(segments_of(run, before.experiment), done);
  check_resumable(trained, now.experiment, run.path());
  return {run.path(), true, std::move(now), {}, trained, done};
}

// Rejects paths that are not UTF-8, because config.toml cannot store them.
void check_utf8(const Plan& plan) {
  constexpr const char* advice = "expected UTF-8; rename the file or the folder";
  check_input(plan.resumes || find_invalid_utf8(plan.run_path) == plan.run_path.npos,
              "--run {}: {}", in_quotes(plan.run_path), advice);
  for (const ConfigEntry& entry : list_config(plan.config.experiment))
    check_input(find_invalid_utf8(entry.text()) == std::string::npos, "{} = {}: {}", entry.key,
                escaped(entry.text()), advice);
}

void log_start(const RunFolder& run, const Experiment& experiment, const Corpus& corpus,
               const Summary& summary) {
  logging::info("run {}", run.path());
  const DataKind* const kind = experiment.data.kind;
  const bool shows_examples =
      kind == &data_kinds::pairs || kind == &data_kinds::labelled || kind == &data_kinds::examples;
  for (const std::string& line : shows_examples ? data_report(corpus) : corpus.notes)
    logging::info("data: {}", line);
  logging::info("model: {} parameters, {} trainable", summary.parameters, summary.trained);
  if (rank_count() > 1)
    logging::info("processes: {}, each with {} of {} shards", rank_count(),
                  OwnShards(experiment.train.shards).count, experiment.train.shards);
  logging::info("machine: {}, {}, precision {}, {}", processor_name(),
                counted(thread_count(), "thread"),
                precision_name(effective_precision(experiment.precision)), kernels::blas_backend());
}

// Announces a training that takes much memory or time, or has very long batches, `left` steps
// before its end, because even its first step may take long.
void announce_size(const Experiment& experiment, const Corpus& corpus, const Summary& summary,
                   int64_t left) {
  const BatchPositions positions = batch_positions(experiment, corpus, summary.parameters);
  const std::string notice = size_notice(summary, positions);
  if (notice.empty()) return;
  logging::info("{}", notice);
  if (rank_count() == 1 && left > 0)
    logging::info("{}", time_notice(first_step(experiment, corpus, summary.parameters, positions),
                                    positions, left));
}

std::string resume_command(const std::string& run) {
  return heed_command({"train", "--resume", "--run", run});
}

// Says how to continue an earlier run of the same config that did not reach its end.
void mention_unfinished(const std::string& run) {
  const bool failed = exists(in_folder(run, run_files::error));
  if (is_locked(run))
    logging::info("{}: another process is training it", run);
  else if (failed || !exists(in_folder(run, run_files::result)))
    logging::info("{}: {}; to continue it instead: {}", run, failed ? "failed" : "unfinished",
                  resume_command(run));
}

void warn_of_processors() {
  const std::string name = processor_name();
  if (on_any_rank(from_first_rank(name) != name))
    logging::warning(
        "the processes have different processors: the last bits of the weights may depend on "
        "their number");
}

// Returns the summary of a training. Throws InputError if it does not fit into memory.
Summary checked_summary(const LoadedConfig& config, const Corpus& corpus) {
  return with_origins(config.origins, [&] {
    Summary summary = summarize(config.experiment, corpus);
    check_memory(summary);
    return summary;
  });
}

// Opens the run to resume, or creates one, and locks it.
std::unique_ptr<RunWriter> writer_of(const Plan& plan, const std::string& name) {
  const RunFolder run = plan.resumes            ? RunFolder::open(plan.run_path)
                        : plan.run_path.empty() ? RunFolder::create_in("runs", name)
                                                : RunFolder::create(plan.run_path);
  return std::make_unique<RunWriter>(run, plan.resumes,
                                     plan.config.experiment.train.keep_checkpoints);
}

struct Trained {
  TrainingLoop::End end;
  int64_t steps;

  int code() const { return end == TrainingLoop::End::interrupted ? exit_interrupted : exit_done; }
};

// Trains until a step. Calls begin(loop) after everything that may reject the training, so that a
// rejected resume leaves the run unchanged. Ranks other than 0 have no writer. `next` says how to
// continue; with `goes_on` this process does so itself, unless it is interrupted.
Trained train_until(int64_t last, const Plan& plan, const Corpus& corpus,
                    const ProgramCommands& program, RunWriter* writer,
                    const std::function<void(TrainingLoop& loop)>& begin, bool goes_on,
                    const std::string& next) {
  try {
    TrainingLoop loop = with_origins(
        plan.config.origins, [&] { return TrainingLoop(plan.config.experiment, corpus, writer); });
    with_origins(plan.config.origins, [&] { add_measures(loop, program.measures); });
    if (writer) begin(loop);
    if (program.prepare) program.prepare(loop);
    const TrainingLoop::End end = loop.run(last);
    if (end == TrainingLoop::End::done && !goes_on)
      print_escaped(loop.finish());
    else if (writer && (end == TrainingLoop::End::interrupted || !goes_on))
      logging::info("{} and saved; {}", end == TrainingLoop::End::paused ? "paused" : "interrupted",
                    next);
    if (writer) writer->end();
    return {end, loop.steps_done()};
  } catch (const std::exception& error) {
    if (writer) writer->failed(error);
    throw;
  }
}

int TrainArguments::run() const {
  Plan plan = plan_of(*this);
  check_utf8(plan);
  const Experiment& experiment = plan.config.experiment;
  apply_settings(experiment);
  plan.config.starts_command =
      plan.config.starts_command || allow_command || has_task(experiment.data);
  check_input(plan.config.starts_command || experiment.data.command.empty(),
              "{}: its examples come from a program, {}: look at it, and start it with "
              "--allow-command",
              plan.first ? from : plan.run_path, in_quotes(joined(experiment.data.command, " ")));
  const Corpus corpus = load_data(plan.config);
  if (!sweep.empty()) {
    check_input(is_folder(sweep), "--sweep {}: no such folder; name that of a sweep", sweep);
    DataRecord::read(sweep).check(DataFiles::of(corpus), false);
  }
  if (plan.first) plan.first->check_data(corpus);
  const int64_t last = plan.first ? std::min(until, plan.first->step()) : until;
  with_origins(plan.config.origins, [&] {
    plan.config.experiment.take_all_examples(corpus);
    check_shared(experiment.train.shards);
  });
  check_agreement(experiment, corpus.fingerprint);
  warn_of_processors();
  Summary summary;
  std::string earlier;
  if (rank() == 0) {
    for (const std::string& notice : setting_notices(experiment, corpus))
      logging::warning("{}", notice);
    const std::string longer =
        plan.before ? longer_schedule_notice(*plan.before, experiment, plan.done) : "";
    if (!longer.empty()) logging::warning("{}", longer);
    summary = checked_summary(plan.config, corpus);
    announce_size(experiment, corpus, summary, std::min(last, experiment.train.steps) - plan.done);
    if (run_path.empty() && from.empty() && !plan.resumes)
      earlier = newest_run("runs", stem_of(config));
  }

  // A run that was resumed with other values is trained again like that.
  const std::vector<Segment> segments =
      plan.first ? plan.first->segments() : std::vector<Segment>{{0, experiment}};
  Trained trained{};
  std::string run;
  for (size_t i = 0; i < segments.size(); ++i) {
    const bool goes_on = i + 1 < segments.size() && segments[i + 1].from_step < last;
    plan.config.experiment = segments[i].experiment;
    if (i > 0) plan.resumes = true, plan.run_path = run;
    const std::unique_ptr<RunWriter> writer =
        rank() == 0 ? writer_of(plan, config + from) : nullptr;
    if (writer) run = writer->folder().path();
    const auto begin = [&](TrainingLoop& loop) {
      writer->begin(plan.config, corpus, loop.steps_done(), loop.training().state.best_step, sweep);
      if (i == 0) log_start(writer->folder(), experiment, corpus, summary);
      if (i > 0)
        for (const ConfigDifference& d : changed_keys(segments[i - 1].experiment, experiment))
          logging::info("step {}: {} = {}, was {}", loop.steps_done(), d.a.key, d.b.text(),
                        d.a.text());
      if (!earlier.empty()) mention_unfinished(earlier);
    };
    const std::string next = goes_on
                                 ? "start again with: " + heed_command({"train", "--from", from})
                                 : "continue with: " + resume_command(run);
    trained = train_until(goes_on ? segments[i + 1].from_step : last, plan, corpus, *program,
                          writer.get(), begin, goes_on, next);
    if (!goes_on || trained.end == TrainingLoop::End::interrupted) break;
  }
  if (rank() > 0) return trained.code();
  int code = trained.code();
  if (plan.first && trained.steps >= plan.first->step()) {
    const Reproduction::Verdict compared = plan.first->compare(RunFolder::open(run));
    print_escaped(one_line(compared.text) + "\n");
    if (!compared.is_same) code = exit_failed;
  }
  if (trained.end == TrainingLoop::End::done)
    print_escaped("\nTry it:\n" + escaped(next_command(run, experiment, corpus)) + "\n");
  return code;
}

}  // namespace

const Command commands::train = {
    .name = "train",
    .summary = "Train a model from a config, or resume a run",
    .details =
        "The first run of configs/reverse.toml is runs/reverse, the second runs/reverse-2, and so "
        "on.\n"
        "Wherever a command takes a run, runs/latest is the one whose training started last; runs "
        "of\n"
        "sweeps do not count.\n"
        "The last line of the output is the next command to try.\n\n"
        "Examples:\n"
        "  heed train configs/reverse.toml\n"
        "  heed train configs/reverse.toml --set model.layers=4 --set optim.lr=1e-4 --run "
        "runs/deep\n"
        "  heed train --resume --run runs/deep --set train.steps=20000\n"
        "  heed train --from runs/deep --set threads=1",
    .arguments = make_arguments<TrainArguments>,
    .shared_by_ranks = true,
};

}  // namespace heed
