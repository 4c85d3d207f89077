// The training loop calls the listeners of every training, and one that another room adds.
#include "apps/training/training_loop.h"

#include <doctest/doctest.h>

#include "apps/config/load_config.h"
#include "apps/inference/vocabulary_file.h"
#include "apps/support/files.h"
#include "apps/training/load_data.h"
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

}  // namespace

TEST_CASE("training loop: a listener is called around each step, and can stop the training") {
  const TemporaryFolder folder;
  write_file(folder / "c.toml",
             "[train]\nsteps = 20\nbatch_size = 4\nevaluate_every = 2\nlog_every = 1\nsamples = 0\n"
             "[model]\nlayers = 1\ndim = 8\nheads = 2\n[data]\nkind = 'copy'\nsymbols = 5\n"
             "lengths = [1, 4]\nval_size = 4\ntest_size = 4\n");
  const LoadedConfig config = load_config(folder / "c.toml", {});
  const Corpus corpus = load_data(config);
  const RunFolder run = RunFolder::create(folder / "r");
  const RunLock lock(run);
  write_file(run.vocabulary(), vocabulary_text(corpus));
  std::string calls;
  {
    TrainingLoop loop(config.experiment, corpus, &lock, false);
    loop.add(std::make_unique<Listener>(loop.training(), calls));
    CHECK(loop.run(20) == TrainingLoop::End::done);
  }
  CHECK(calls == "0<1 1<2 2<3 3<4 4<5 end");
  // Its row of a step comes after that of the loss, and before that of the evaluation: a checkpoint
  // has all.
  std::string rows;
  std::istringstream lines(read_file(run.metrics(), "metrics"));
  for (std::string line; std::getline(lines, line);) {
    const Json row = Json::parse(line, "metrics");
    for (const char* member : {"loss", "heard", "val"})
      if (row.find(member)) rows += member[0];
  }
  CHECK(rows == "lhlhvlhlhvlh");
  CHECK(Checkpoints(run.checkpoints(), 1).newest_step() == 5);
}
