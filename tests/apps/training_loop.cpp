// The training loop calls the listeners of every training, and those that another room adds.
#include "apps/training/training_loop.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "apps/config/load_config.h"
#include "apps/inference/scores.h"
#include "apps/support/files.h"
#include "apps/support/log.h"
#include "apps/training/load_data.h"
#include "apps/training/measures.h"
#include "apps/training/run_record.h"
#include "apps/training/saved_run.h"
#include "checks.h"
#include "core/parallel.h"
#include "temporary.h"

using namespace heed;

namespace {

// Writes a row at each step, and stops after the fifth.
class Listener : public TrainingListener {
 public:
  Listener(TrainingContext& training, std::string& calls)
      : TrainingListener(training), calls_(calls) {}
  void before_step() override { calls_ += std::to_string(training_.step()) + "<"; }
  void after_step(const StepReport& report) override {
    CHECK(report.loss > 0);
    calls_ += std::to_string(training_.step()) + " ";
    training_.write_row(Json::object().set("step", training_.step()).set("heard", true));
  }
  bool stops() const override { return training_.step() == 5; }
  void end() override { calls_ += "end"; }

 private:
  std::string& calls_;
};

// Notes the newest checkpoint after each step.
class CheckpointReader : public TrainingListener {
 public:
  CheckpointReader(TrainingContext& training, std::vector<int64_t>& newest)
      : TrainingListener(training), newest_(newest) {}
  Order order() const override { return Order::stop; }
  void after_step(const StepReport&) override {
    newest_.push_back(training_.writer->checkpoints().newest_step());
  }

 private:
  std::vector<int64_t>& newest_;
};

LoadedConfig small_config(const TemporaryFolder& folder, const std::string& keys) {
  write_file(
      folder / "c.toml",
      "[train]\nsteps = 20\nbatch_size = 4\nevaluate_every = 2\nlog_every = 1\nsamples = 0\n" +
          keys +
          "[model]\nlayers = 1\ndim = 8\nheads = 2\n[data]\nkind = 'copy'\nsymbols = 5\n"
          "lengths = [1, 4]\nval_size = 4\ntest_size = 4\n");
  return load_config(folder / "c.toml", {});
}

// The training of a small config, with the folder of its run.
struct SmallRun {
  TemporaryFolder folder;
  LoadedConfig config;
  Corpus corpus = load_data(config);
  RunFolder run = RunFolder::create(folder / "r");
  RunWriter writer{run, false};
  TrainingLoop loop{config.experiment, corpus, &writer};

  explicit SmallRun(const std::string& keys) : config(small_config(folder, keys)) {
    writer.begin(config, corpus, 0, 0);
  }
};

NumbersByPath parameters_of(const Model& model, const Experiment&, const Corpus&,
                            const Dataset& examples) {
  return {{"parameters", static_cast<double>(model.parameter_count())},
          {"read", static_cast<double>(examples.size)}};
}
constexpr Measure counting{"counting", {}, parameters_of};
constexpr const Measure* counting_only[] = {&counting};

}  // namespace

TEST_CASE("training loop: a listener is called around each step, and can stop the training") {
  SmallRun small("");
  std::string calls;
  small.loop.add(std::make_unique<Listener>(small.loop.training(), calls));
  CHECK(small.loop.run(20) == TrainingLoop::End::done);
  CHECK(calls == "0<1 1<2 2<3 3<4 4<5 end");
  // Its row of a step comes after that of the loss, and before that of the evaluation: a checkpoint
  // has all.
  std::string rows;
  std::istringstream lines(read_file(small.run.metrics(), "metrics"));
  for (std::string line; std::getline(lines, line);) {
    const Json row = Json::parse(line, "metrics");
    if (const Json* const rate = row.find("tokens_per_s"))  // of four pairs, since the last row
      CHECK(rate->number() * (row.at("seconds").number() + 0.0005) >= 8);
    for (const char* member : {"loss", "heard", "val"})
      if (row.find(member)) rows += member[0];
  }
  CHECK(rows == "lhlhvlhlhvlh");
  CHECK(Checkpoints(small.run.checkpoints(), 1).newest_step() == 5);
}

TEST_CASE("training loop: without checkpoint_every each evaluation, and no other step, is saved") {
  SmallRun small("checkpoint_every = 0\n");
  std::vector<int64_t> newest;
  small.loop.add(std::make_unique<CheckpointReader>(small.loop.training(), newest));
  CHECK(small.loop.run(5) == TrainingLoop::End::paused);
  CHECK(newest == std::vector<int64_t>{0, 2, 2, 4, 4});
}

TEST_CASE("training loop: rows of attention weights without a sum, of all threads, are a warning") {
  const TemporaryFolder folder;
  const auto warning = [&](const char* normaliser, int threads,
                           const std::vector<std::string>& more = {}) {
    small_config(
        folder,
        std::string("shards = 4\n[model.attention]\nsimilarity = 'dot'\ntemperature = 1e6\n") +
            "normaliser = '" + normaliser + "'\n");
    const LoadedConfig config = load_config(folder / "c.toml", more);
    const Corpus corpus = load_data(config);
    const std::string log = folder / "log";
    write_file(log, "");
    logging::open_file(log);
    const int before = thread_count();
    set_thread_count(threads);
    TrainingLoop(config.experiment, corpus, nullptr).run(5);
    set_thread_count(before);
    logging::close_file();
    std::string warnings;
    std::istringstream lines(read_file(log, "log"));
    for (std::string line; std::getline(lines, line);)
      if (const size_t at = line.find("warning: "); at != std::string::npos)
        warnings += line.substr(at) + "\n";
    return warnings;
  };
  const std::string one = warning("sum", 1);
  CHECK_CONTAINS(one,
                 " rows of attention weights had a sum within 1e-06 of 0 and were set to zero");
  CHECK(std::ranges::count(one, '\n') == 5);
  CHECK(warning("sum", 4) == one);
  CHECK(warning("count", 1) == "");
  // All rows of the encoder's 4 positions and, twice, the decoder's 5, of 4 examples and 2 heads.
  CHECK_CONTAINS(warning("sum", 1, {"model.init.gain=0", "data.lengths=[4, 4]"}), ": 112 rows");
}

TEST_CASE("training loop: measures are found by name, and a program without them says so") {
  SmallRun small("measures = ['counting', 'train']\nmeasure_every = 10\n");
  CHECK_THROWS_WITH_AS(add_measures(small.loop, {}),
                       doctest::Contains("built without lab/, which measures \"counting\""),
                       InputError);
  add_measures(small.loop, counting_only);
  CHECK(small.loop.run(20) == TrainingLoop::End::done);
  std::string steps;
  std::istringstream lines(read_file(small.run.metrics(), "metrics"));
  for (std::string line; std::getline(lines, line);) {
    const Json row = Json::parse(line, "metrics");
    if (!row.find("counting")) continue;
    steps += std::to_string(row.at("step").integer()) + " ";
    CHECK(row.at("counting").at("read").number() == 4);
    CHECK(row.at("train").at("loss").number() > 0);
    CHECK(row.at("seconds").number() >= 0);
  }
  CHECK(steps == "10 20 ");
}

TEST_CASE("training loop: a factor spaces evaluations, at the same steps of a run of any length") {
  const auto steps = [](int64_t every, double factor, int64_t last) {
    TrainOptions train;
    train.evaluate_every = every;
    train.evaluate_factor = factor;
    std::vector<int64_t> all;
    for (int64_t step = 1; step <= last; ++step)
      if (train.evaluates_at(step)) all.push_back(step);
    return all;
  };
  using Steps = std::vector<int64_t>;
  CHECK(steps(10, 1, 35) == Steps{10, 20, 30});
  CHECK(steps(10, 1.3, 80) == Steps{10, 13, 17, 23, 30, 39, 51, 67});
  CHECK(steps(1, 1.3, 11) == Steps{1, 2, 3, 4, 6, 8, 11});
  CHECK(steps(100, 1.1, 140) == Steps{100, 110, 121, 134});
  CHECK(steps(0, 2, 50).empty());
}

TEST_CASE("training loop: evaluations and measures have the steps of a factor, also when resumed") {
  const TemporaryFolder folder;
  const LoadedConfig config =
      small_config(folder, "evaluate_factor = 2\nmeasures = ['train']\nmeasure_examples = 0\n");
  const Corpus corpus = load_data(config);
  const auto train = [&](const RunFolder& folder_of_run, int64_t until, bool is_new) {
    RunWriter writer(folder_of_run, !is_new);
    TrainingLoop loop(config.experiment, corpus, &writer);
    writer.begin(config, corpus, loop.steps_done(), loop.training().state.best_step);
    add_measures(loop, {});
    loop.run(until);
    writer.end();
  };
  const RunFolder whole = RunFolder::create(folder / "a"),
                  resumed = RunFolder::create(folder / "b");
  train(whole, 20, true);
  train(resumed, 7, true);
  train(resumed, 20, false);
  const auto rows = [&](const RunFolder& run, const std::string& split) {
    std::map<int64_t, std::string> by_step;
    std::istringstream lines(read_file(run.metrics(), "metrics"));
    for (std::string line; std::getline(lines, line);) {
      const Json row = Json::parse(line, "metrics");
      if (row.find(split)) by_step[row.at("step").integer()] = row.at(split).text();
    }
    return by_step;
  };
  for (const char* split : {"val", "train"}) {
    std::vector<int64_t> steps;
    for (const auto& [step, scores] : rows(whole, split)) steps.push_back(step);
    CHECK(steps == std::vector<int64_t>{2, 4, 8, 16, 20});
    for (const auto& [step, scores] : rows(whole, split))
      CHECK(rows(resumed, split).at(step) == scores);
  }
  const TrainedModel loaded(SavedRun::open(folder / "a"), "latest", TrainedModel::Needs::data);
  const double loss = score_split(*loaded.model, corpus, config.experiment, "train")
                          .scores.values.at(&scores::loss);
  CHECK(Json::parse(rows(whole, "train").at(20), "row").at("loss").number() == loss);
}

TEST_CASE("training loop: a measure that takes more than a tenth of the time is named") {
  CHECK(warning_of_cost("ablate", 1, 10, 100) == "");
  const std::string text = warning_of_cost("ablate", 3, 10, 100);
  CHECK(text ==
        "train.measures: \"ablate\" takes 30 % of the time; raise train.measure_every (100)");
  CHECK(warning_of_cost("ablate", 3, 10, 0).ends_with("(0: with every evaluation)"));
}

TEST_CASE("training loop: an error removes a new run that has not begun, and is recorded later") {
  const TemporaryFolder folder;
  const LoadedConfig config = small_config(folder, "");
  const Corpus corpus = load_data(config);
  const std::string path = folder / "r";
  RunWriter(RunFolder::create(path), false).failed(Error("too early"));
  CHECK(!exists(path));
  {
    RunWriter run(RunFolder::create(path), false);
    TrainingLoop loop(config.experiment, corpus, &run);
    CHECK(names_in_folder(path) == std::vector<std::string>{".lock"});  // it writes nothing
    run.begin(config, corpus, loop.steps_done(), loop.training().state.best_step);
    loop.run(2);
    run.failed(Error("no power"));
  }
  const RunFolder run = RunFolder::open(path);
  CHECK(read_file(run.error(), "error") == "no power\n");
  CHECK(sessions_of(run).elements().at(0).find("end"));
  const auto files = [&] {
    std::map<std::string, std::string> all;
    for (const std::string& name : names_in_folder(path))
      if (name != ".lock" && !is_folder(in_folder(path, name)))
        all[name] = read_file(in_folder(path, name), "file");
    return all;
  };
  const auto before = files();
  RunWriter(run).failed(Error("rejected"));
  CHECK(files() == before);
  RunWriter again(run);
  TrainingLoop loop(config.experiment, corpus, &again);
  again.begin(config, corpus, loop.steps_done(), loop.training().state.best_step);
  CHECK(!exists(run.error()));
  again.end();
  const Json sessions = sessions_of(run);
  CHECK(sessions.elements().size() == 2);
  CHECK(sessions.elements()[1].at("from_step").integer() == 2);
}

TEST_CASE("run: a renamed run writes nothing into another folder with its old path") {
  const TemporaryFolder folder;
  const LoadedConfig config = small_config(folder, "");
  const Corpus corpus = load_data(config);
  {
    RunWriter run(RunFolder::create(folder / "r"), false);
    run.begin(config, corpus, 0, 0);
    std::filesystem::rename(folder / "r", folder / "moved");
    make_folders(folder / "r");
  }
  CHECK(names_in_folder(folder / "r").empty());
}

TEST_CASE("saved run: loading a model leaves the settings of the thread as they are") {
  const TemporaryFolder folder;
  const LoadedConfig config = small_config(folder, "");
  const Corpus corpus = load_data(config);
  RunWriter run(RunFolder::create(folder / "r"), false);
  TrainingLoop loop(config.experiment, corpus, &run);
  run.begin(config, corpus, 0, 0);
  loop.run(3);
  run.end();
  ScopeGuard outer;
  outer->step = 77;
  const SavedRun saved = SavedRun::open(folder / "r");
  for (const auto needs : {TrainedModel::Needs::vocabulary, TrainedModel::Needs::data}) {
    const TrainedModel loaded(saved, "latest", needs);
    CHECK(scope().step == 77);
    CHECK(loaded.corpus.splits.empty() == (needs == TrainedModel::Needs::vocabulary));
    const TrainedModel::Here here(loaded);
    CHECK(scope().step == 3);
  }
  CHECK(scope().step == 77);
}
