// heed train: what it says of settings that a user may not expect, full batches, empty names.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <signal.h>
#include <unistd.h>

#include "apps/config/load_config.h"
#include "apps/support/files.h"
#include "program.h"

using namespace heed;

namespace {

// All problems of addition modulo 11: 121 examples in three splits.
struct Problems : Workspace {
  Problems() {
    write("c.toml",
          "[train]\nsteps = 4\nevaluate_every = 0\nsamples = 0\n[model]\nkind = 'language_model'\n"
          "layers = 1\ndim = 8\nheads = 1\n[data]\nkind = 'modular'\nmodulus = 11\n");
  }
  ProgramOutput train(const std::vector<std::string>& settings) const {
    std::vector<std::string> arguments = {"train", "c.toml", "--run", "r"};
    for (const std::string& setting : settings)
      arguments.insert(arguments.end(), {"--set", setting});
    remove_all(*this / "r");
    return heed(arguments);
  }
  int64_t batch_size(const std::string& run = "r") const {
    return load_run_config(*this / (run + "/config.toml"), {}).experiment.train.batch_size;
  }
};

}  // namespace

TEST_CASE("train: batch_size = 0 takes all training examples, as the config of the run says") {
  const Problems problems;
  const std::string zero = "train.batch_size=0";
  succeeded(problems.train({zero}));
  const int64_t examples = problems.batch_size();
  CHECK(examples > 50);
  CHECK(examples < 121);
  // A problem has four tokens: 3 + 5 =
  CHECK(problems.json("r/checkpoints/latest/state.json").at("training").at("tokens").integer() ==
        4 * 4 * examples);
  CHECK_CONTAINS(problems.ok({"summary", "c.toml", "--set", zero}),
                 fmt::format("for {} sequences of 4", examples));
  CHECK(problems.ok({"evaluate", "r"}) != "");
  problems.ok(
      {"train", "c.toml", "--resume", "--run", "r", "--set", zero, "--set", "train.steps=5"});
  CHECK(problems.batch_size() == examples);
  CHECK_CONTAINS(problems.ok({"train", "--from", "r", "--run", "again"}), "the same bits");

  check_rejected(problems.train({zero, "train.shards=64"}), 2,
                 {"train.shards = 64: expected a power of two that divides train.batch_size = ",
                  std::to_string(examples)});
  check_rejected(problems.train({zero, "data.bucketing=4"}), 2,
                 {"data.bucketing = 4", "set it to 1"});
  problems.replace("c.toml", "'modular'\nmodulus = 11", "'copy'\nlengths = [1, 40]");
  check_rejected(problems.train({zero}), 2,
                 {"train.batch_size = 0", "draws them without an end: set data.train_size"});
  check_rejected(problems.train({zero, "data.train_size=1000001"}), 2,
                 {"1000001 training examples, a batch at most 1000000"});
  check_rejected(problems.heed({"evaluate", "again", "--set", zero}), 2,
                 {"--set train.batch_size=0: train.batch_size = 0: a run has the number"});
}

TEST_CASE("train: one notice for a batch larger than the data, and for a warm-up without end") {
  const Problems problems;
  const auto notices = [&](const std::vector<std::string>& settings) {
    const std::string log = succeeded(problems.train(settings)).err;
    int64_t count = 0;
    for (size_t at = log.find(" is more than "); at != log.npos;
         at = log.find(" is more than ", at + 1))
      ++count;
    return std::pair(count, log);
  };
  CHECK(notices({"train.batch_size=50", "schedule.warmup_steps=4"}).first == 0);
  const auto [large, batch] = notices({"train.batch_size=200"});
  CHECK(large == 1);
  CHECK_CONTAINS(batch, "train.batch_size = 200 is more than the ");
  CHECK_CONTAINS(batch, "train.batch_size = 0 takes each once");
  const auto [longer, warmup] = notices({"schedule.warmup_steps=8", "optim.lr=0.5"});
  CHECK(longer == 1);
  CHECK_CONTAINS(warmup,
                 "schedule.warmup_steps = 8 is more than train.steps = 4: the learning rate still "
                 "rises at the end, where it is 0.25");
}

TEST_CASE("options and keys that name something reject an empty name") {
  const Problems problems;
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"train", "c.toml", "--run", ""},
                                             {"train", ""},
                                             {"train", "--from", ""},
                                             {"train", "c.toml", "--sweep", ""},
                                             {"evaluate", ""},
                                             {"evaluate", "r", "--split", ""},
                                             {"evaluate", "r", "--checkpoint", ""},
                                             {"evaluate", "r", "--predictions", ""},
                                             {"generate", "r", "--input", ""},
                                             {"attend", "r", "--output", ""},
                                             {"summary", ""},
                                             {"config", ""},
                                             {"data", ""}}) {
    CAPTURE(arguments[0]);
    check_rejected(problems.heed(arguments), 2, {": expected a value, found ''"});
  }
  CHECK(names_in_folder(problems.path) == std::vector<std::string>{"c.toml"});
  check_rejected(problems.heed({"config", "c.toml", "--set", "data.paths=[\"\"]"}), 2,
                 {"data.paths: expected paths that are not empty"});
}

TEST_CASE("train: one SIGTERM ends a step that takes minutes, and the last step is saved") {
  Workspace workspace;
  workspace.write("x.txt", "ab\n" + std::string(1'000'000, 'a') + "\n");
  workspace.write("c.toml",
                  "[train]\nsteps = 9\nbatch_size = 1\nlog_every = 1\nevaluate_every = 0\n"
                  "[model]\nkind = 'language_model'\nlayers = 1\ndim = 8\nheads = 1\n[data]\n"
                  "kind = 'lines'\npath = 'x.txt'\nval_fraction = 0\ntest_fraction = 0\n");
  for (const std::string threads : {"1", "2"}) {
    const std::string run = "r" + threads;
    Subprocess program({"train", "c.toml", "--run", run, "--set", "threads=" + threads},
                       workspace.path);
    // The first step reads the short line, the second one the other.
    const auto rows = [&] {
      return workspace.has(run + "/metrics.jsonl") ? workspace.read(run + "/metrics.jsonl") : "";
    };
    while (program.running() && rows().find("\"step\":1,") == std::string::npos) ::usleep(1000);
    ::usleep(200'000);
    program.signal(SIGTERM);
    const ProgramOutput output = program.wait();
    CHECK(output.code == 130);
    CHECK_CONTAINS(output.err, "interrupted and saved; continue with: heed train --resume --run ");
    CHECK(rows().find("\"step\":2,") == std::string::npos);
    CHECK(workspace.json(run + "/checkpoints/latest/state.json").at("step").integer() == 1);
  }
  CHECK(workspace.digest("r1/checkpoints/latest/model.safetensors") ==
        workspace.digest("r2/checkpoints/latest/model.safetensors"));
  workspace.ok({"train", "--resume", "r1", "--until", "1"});
}
