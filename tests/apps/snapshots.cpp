// train.snapshots: the weights at a fixed series of steps, whatever happens to the training.
#include "apps/training/snapshots.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/support/digest.h"
#include "apps/support/files.h"
#include "core/check.h"
#include "core/random.h"
#include "disk_limits.h"
#include "program.h"

using namespace heed;

namespace {

NamedParameter weights_of(int64_t step, int64_t size = 500) {
  return {"layer.weight", Tensor::full({size}, static_cast<real>(step))};
}

using Steps = std::vector<int64_t>;

// The snapshots of a run with their digests.
std::vector<std::string> snapshots_of(const Workspace& workspace, const std::string& run) {
  std::vector<std::string> all;
  for (const std::string& name : names_in_folder(workspace / (run + "/snapshots")))
    all.push_back(name + " " + workspace.digest(run + "/snapshots/" + name));
  return all;
}

}  // namespace

TEST_CASE("snapshots: the steps are a fixed series") {
  Steps due;
  for (int64_t step = 1; step <= 100; ++step)
    if (Snapshots::is_due(step)) due.push_back(step);
  CHECK(due == Steps{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96});
  CHECK_FALSE(Snapshots::is_due(0));
}

TEST_CASE("snapshots: the newest are kept, and read as they were written") {
  const TemporaryFolder folder;
  const Snapshots snapshots(folder / "snapshots");
  CHECK(snapshots.steps().empty());
  snapshots.save(1, {weights_of(1)}, 0);
  CHECK_FALSE(exists(folder / "snapshots"));
  for (const int64_t step : {1, 2, 3, 4, 6, 8, 12}) snapshots.save(step, {weights_of(step)}, 4);
  CHECK(snapshots.steps() == Steps{4, 6, 8, 12});
  const NamedParameter read = weights_of(0);
  snapshots.model(6).check({read});
  snapshots.model(6).read({read});
  CHECK(read.tensor.values()[0] == 6);
  // A training that continues from step 7 does step 8 again.
  write_file(folder / "snapshots/.tmp-step-16.safetensors", "half");
  snapshots.settle(7);
  CHECK(names_in_folder(folder / "snapshots") ==
        std::vector<std::string>{"step-4.safetensors", "step-6.safetensors"});
}

TEST_CASE("snapshots: together they have at most 64 MiB") {
  const TemporaryFolder folder;
  const Snapshots snapshots(folder / "snapshots");
  constexpr int64_t third = Snapshots::max_bytes / 4 / 3;  // elements
  for (const int64_t step : {1, 2, 3, 4}) snapshots.save(step, {weights_of(step, third)}, 20);
  CHECK(snapshots.steps() == Steps{3, 4});  // three headers are too many
  snapshots.save(6, {weights_of(6, third - 1000)}, 20);
  CHECK(snapshots.steps() == Steps{3, 4, 6});
  snapshots.save(8, {weights_of(8, 3 * third + 3)}, 20);
  CHECK(snapshots.steps() == Steps{3, 4, 6});
}

TEST_CASE("snapshots: weights that are not finite are left out") {
  const TemporaryFolder folder;
  const Snapshots snapshots(folder / "snapshots");
  const NamedParameter broken = weights_of(2);
  Tensor(broken.tensor).mutable_data()[77] = std::numeric_limits<real>::quiet_NaN();
  snapshots.save(2, {broken}, 20);
  CHECK(snapshots.steps().empty());
}

TEST_CASE("snapshots: a file that is damaged or of another model is named") {
  const TemporaryFolder folder;
  const Snapshots snapshots(folder / "snapshots");
  snapshots.save(2, {weights_of(2)}, 20);
  const auto error = [&](const NamedParameter& tensor) {
    return thrown<InputError>([&] { snapshots.model(2).read({tensor}); });
  };
  CHECK_CONTAINS(error(weights_of(0, 3)), "step-2.safetensors: of another model: 'layer.weight'");
  CHECK_CONTAINS(thrown<InputError>([&] { snapshots.model(3).check({weights_of(3)}); }),
                 "step-3.safetensors: ");
  const std::string whole = read_file(snapshots.path(2), "file");
  write_file(snapshots.path(2), whole.substr(0, whole.size() - 1));
  CHECK_CONTAINS(error(weights_of(0)), "step-2.safetensors: damaged");
}

TEST_CASE("snapshots: a process that is killed leaves whole files") {
  const TemporaryFolder folder;
  const Snapshots snapshots(folder / "snapshots");
  Random random(7, Purpose::test);
  constexpr int64_t size = 200'000;
  NamedParameter written = weights_of(0, size);
  int killed_in_the_middle = 0;
  for (int round = 0; round < 25; ++round) {
    const pid_t child = ::fork();
    if (child == 0)
      for (int64_t step = 1;; ++step) {
        // Not in parallel: a child has none of the threads of its parent.
        std::fill_n(written.tensor.mutable_data(), size, static_cast<real>(step));
        snapshots.save(step, {written}, 3);
      }
    for (int i = 0; i < 10'000 && names_in_folder(folder / "snapshots").empty(); ++i)
      ::usleep(1000);
    ::usleep(static_cast<useconds_t>(random.below(20000)));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const std::vector<std::string> names = names_in_folder(folder / "snapshots");
    killed_in_the_middle += !names.empty() && names[0].starts_with(Aside::prefix);
    const NamedParameter read = weights_of(0, size);
    for (const int64_t step : snapshots.steps()) {
      snapshots.model(step).read({read});
      CHECK(read.tensor.values()[0] == static_cast<real>(step));
      CHECK(read.tensor.values()[size - 1] == static_cast<real>(step));
    }
    CHECK(snapshots.steps().size() <= 4);  // the oldest goes after the newest is whole
    snapshots.settle(0);
    CHECK(names_in_folder(folder / "snapshots").empty());
  }
  CHECK(killed_in_the_middle > 0);
}

TEST_CASE("snapshots: a full disk ends the training as at a checkpoint") {
  const TemporaryFolder folder;
  const Snapshots snapshots(folder / "snapshots");
  snapshots.save(1, {weights_of(1, 3000)}, 20);
  {
    const FileSizeLimit limit(10'000);
    CHECK_CONTAINS(thrown<Error>([&] { snapshots.save(2, {weights_of(2, 3000)}, 20); }),
                   "cannot write: File too large; make room on the disk");
  }
  CHECK(names_in_folder(folder / "snapshots") == std::vector<std::string>{"step-1.safetensors"});
}

TEST_CASE("train.snapshots: extended and paused runs have the files of one that went through") {
  Workspace workspace;
  workspace.write("c.toml", tiny_config());
  const std::vector<std::string> set = {"--set", "train.snapshots=5"};
  const auto train = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "train");
    arguments.insert(arguments.end(), set.begin(), set.end());
    workspace.ok(arguments);
  };
  train({"c.toml", "--run", "whole"});
  CHECK(names_in_folder(workspace / "whole/snapshots") ==
        std::vector<std::string>{"step-12.safetensors", "step-16.safetensors",
                                 "step-24.safetensors", "step-6.safetensors",
                                 "step-8.safetensors"});
  train({"c.toml", "--run", "longer", "--set", "train.steps=13"});
  train({"--resume", "--run", "longer", "--set", "train.steps=30"});
  CHECK(snapshots_of(workspace, "longer") == snapshots_of(workspace, "whole"));
  train({"c.toml", "--run", "paused", "--until", "12"});
  train({"--resume", "--run", "paused"});
  CHECK(snapshots_of(workspace, "paused") == snapshots_of(workspace, "whole"));
  // They are the weights that a checkpoint of the step has, averages too, and change no bit.
  for (const std::string average : {"optim.ema=0.5", "train.average_checkpoints=3"}) {
    CAPTURE(average);
    train({"c.toml", "--run", "averaged", "--set", average, "--set", "train.checkpoint_every=8",
           "--set", "train.keep_checkpoints=9"});
    for (const std::string step : {"8", "16", "24"})
      CHECK(workspace.digest("averaged/snapshots/step-" + step + ".safetensors") ==
            workspace.digest("averaged/checkpoints/step-" + step + "/model.safetensors"));
    workspace.ok({"train", "c.toml", "--run", "without", "--set", average, "--set",
                  "train.checkpoint_every=8", "--set", "train.snapshots=0"});
    CHECK_FALSE(workspace.has("without/snapshots"));
    CHECK(workspace.digest("averaged/checkpoints/latest/optimizer.safetensors") ==
          workspace.digest("without/checkpoints/latest/optimizer.safetensors"));
    for (const char* run : {"averaged", "without"}) remove_all(workspace / run);
  }
}
