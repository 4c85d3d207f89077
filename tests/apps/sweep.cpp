// heed sweep: states and identities of runs, points, halving.
#include <doctest/doctest.h>

#include <signal.h>
#include <unistd.h>

#include "apps/config/load_config.h"
#include "apps/experiments/identity.h"
#include "apps/experiments/run_state.h"
#include "apps/support/files.h"
#include "apps/training/saved_run.h"
#include "program.h"

using namespace heed;

namespace {

struct Runs : TemporaryFolder {
  explicit Runs(const std::string& more = "") { write_file(*this / "c.toml", tiny_config(more)); }
  ProgramOutput heed(const std::vector<std::string>& arguments) const {
    return heed_in(path, arguments);
  }
  RunState state(const std::string& run) const { return state_at(*this / run); }
  std::string model(const std::string& run) const {
    return sha256_of_file(*this / run + "/checkpoints/latest/model.safetensors");
  }
  std::string identity(const std::vector<std::string>& assignments) const {
    const LoadedConfig config = load_config(*this / "c.toml", assignments);
    return identity_of(list_config(config.experiment), load_data(config).fingerprint);
  }
};

}  // namespace

TEST_CASE("train: --until pauses a run, whose state follows from its folder") {
  const Runs runs;
  REQUIRE(runs.heed({"train", "c.toml", "--run", "whole"}).code == 0);
  CHECK(runs.state("none") == RunState::none);
  const ProgramOutput paused = runs.heed({"train", "c.toml", "--run", "r", "--until", "17"});
  CHECK(paused.code == 0);
  CHECK(paused.out == "");
  CHECK_TEXT_CONTAINS(paused.err, "paused and saved; continue with: heed train --resume --run r");
  CHECK(runs.state("r") == RunState::resumable);
  CHECK(saved_step(RunFolder::open(runs / "r")) == 17);

  SUBCASE("resuming gives the same bits") {
    CHECK(runs.heed({"train", "--resume", "--run", "r", "--until", "17"}).code == 0);
    CHECK(runs.heed({"train", "--resume", "--run", "r", "--until", "99"}).code == 0);
    CHECK(runs.state("r") == RunState::done);
    CHECK(runs.model("r") == runs.model("whole"));
  }
  SUBCASE("a running one is locked") {
    const RunLock lock(RunFolder::open(runs / "r"));
    CHECK(runs.state("r") == RunState::running);
    CHECK_TEXT_CONTAINS(runs.heed({"train", "--resume", "--run", "r"}).err, "is training in it");
  }
  SUBCASE("an error stands in error.txt until the run is resumed") {
    CHECK(runs.heed({"train", "c.toml", "--run", "bad", "--set", "optim.lr=1e30", "--set",
                     "optim.kind=sgd"})
              .code == 1);
    CHECK(runs.state("bad") == RunState::failed);
    const std::string error = read_file(runs / "bad/error.txt", "error");
    CHECK(error.starts_with("step "));
    CHECK(error.ends_with("names the operation\n"));
    CHECK(runs.heed({"train", "--resume", "--run", "bad", "--until", "1"}).code == 0);
    CHECK(runs.state("bad") != RunState::failed);
  }
}

TEST_CASE("train: a killed run is not running") {
  const Runs runs;
  Subprocess run({"train", "c.toml", "--run", "r", "--set", "train.steps=1000000", "--set",
                  "train.checkpoint_every=1"},
                 runs.path);
  while (run.running() && !exists(runs / "r/checkpoints/latest")) ::usleep(1000);
  CHECK(runs.state("r") == RunState::running);
  run.signal(SIGKILL);
  run.wait();
  CHECK(runs.state("r") == RunState::resumable);
}

TEST_CASE("train: the identity of a run is that of its config and data") {
  const Runs runs;
  REQUIRE(runs.heed({"train", "c.toml", "--run", "r", "--set", "threads=1"}).code == 0);
  const std::string identity = identity_of(RunFolder::open(runs / "r")).value();
  CHECK(identity.size() == 64);
  for (const char* same : {"threads=2", "train.log_every=7", "train.checkpoint_every=3",
                           "train.keep_checkpoints=9", "train.samples=0", "optim.lr=1e-2"})
    CHECK_MESSAGE(runs.identity({same}) == identity, same);
  for (const char* other : {"seed=4", "train.steps=31", "optim.lr=0.02", "train.evaluate_every=5",
                            "data.symbols=6", "data.train_size=99", "train.patience=1"})
    CHECK_MESSAGE(runs.identity({other}) != identity, other);
  // The steps between checkpoints matter where checkpoints are averaged.
  CHECK(runs.identity({"train.average_checkpoints=2"}) !=
        runs.identity({"train.average_checkpoints=2", "train.checkpoint_every=5"}));

  REQUIRE(runs.heed({"train", "c.toml", "--run", "paused", "--until", "2"}).code == 0);
  CHECK(identity_of(RunFolder::open(runs / "paused")) == identity);
  remove_all(runs / "paused/checkpoints");
  CHECK(identity_of(RunFolder::open(runs / "paused")) == std::nullopt);
}
