// heed sweep: states and identities of runs, points, halving.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <signal.h>
#include <unistd.h>

#include "apps/config/load_config.h"
#include "apps/support/digest.h"
#include "apps/support/files.h"
#include "apps/support/lines.h"
#include "apps/training/run_writer.h"
#include "apps/training/saved_run.h"
#include "lab/experiments/halving.h"
#include "lab/experiments/plan.h"
#include "lab/experiments/points.h"
#include "lab/experiments/run_state.h"
#include "lab/experiments/sweep_options.h"
#include "lab/experiments/training_pool.h"
#include "lab/inspect/measures.h"
#include "page_data.h"
#include "program.h"

using namespace heed;

namespace {

struct Runs : Workspace {
  explicit Runs(const std::string& more = "") { write_file(*this / "c.toml", tiny_config(more)); }
  RunState state(const std::string& run) const { return state_of(*this / run); }
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
  runs.ok({"train", "c.toml", "--run", "whole"});
  CHECK(runs.state("none") == RunState::none);
  const ProgramOutput paused =
      succeeded(runs.heed({"train", "c.toml", "--run", "r", "--until", "17"}));
  CHECK(paused.out == "");
  CHECK_CONTAINS(paused.err, "paused and saved; continue with: heed train --resume --run r");
  CHECK(runs.state("r") == RunState::resumable);
  CHECK(saved_step(runs / "r") == 17);

  SUBCASE("resuming gives the same bits") {
    CHECK(runs.heed({"train", "--resume", "--run", "r", "--until", "17"}).code == 0);
    CHECK(runs.heed({"train", "--resume", "--run", "r", "--until", "99"}).code == 0);
    CHECK(runs.state("r") == RunState::done);
    CHECK(runs.model("r") == runs.model("whole"));
  }
  SUBCASE("a running one is locked") {
    const RunWriter lock(RunFolder::open(runs / "r"));
    CHECK(runs.state("r") == RunState::running);
    CHECK_CONTAINS(runs.heed({"train", "--resume", "--run", "r"}).err, "is training in it");
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
  runs.ok({"train", "c.toml", "--run", "r", "--set", "threads=1"});
  const std::string identity = identity_of(RunFolder::open(runs / "r")).value();
  CHECK(identity.size() == 64);
  for (const char* same :
       {"threads=2", "train.log_every=7", "train.checkpoint_every=3", "train.keep_checkpoints=9",
        "train.samples=0", "train.rank_timeout=0", "optim.lr=1e-2"})
    CHECK_MESSAGE(runs.identity({same}) == identity, same);
  for (const char* other : {"seed=4", "train.steps=31", "optim.lr=0.02", "train.evaluate_every=5",
                            "data.symbols=6", "data.train_size=99", "train.patience=1"})
    CHECK_MESSAGE(runs.identity({other}) != identity, other);
  // The steps between checkpoints matter where checkpoints are averaged.
  CHECK(runs.identity({"train.average_checkpoints=2"}) !=
        runs.identity({"train.average_checkpoints=2", "train.checkpoint_every=5"}));

  runs.ok({"train", "c.toml", "--run", "paused", "--until", "2"});
  CHECK(identity_of(RunFolder::open(runs / "paused")) == identity);
  remove_all(runs / "paused/checkpoints");
  CHECK(identity_of(RunFolder::open(runs / "paused")) == std::nullopt);
}

namespace {

// A sweep of tiny_config() with these lines.
struct SweepFile : Runs {
  explicit SweepFile(const std::string& lines) {
    write_file(*this / "s.toml", "config = \"c.toml\"\n" + lines);
  }
  Sweep read() const {
    SweepArguments arguments;
    arguments.path = *this / "s.toml";
    return read_sweep(arguments);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Point& point : points_of(read())) names.push_back(point.name);
    return names;
  }
  std::string error() const {
    return thrown<InputError>([&] { points_of(read()); });
  }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("sweep: the shipped ones have six seeds or more, and points that are configs") {
  const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  int files = 0;
  for (const char* folder : {"configs/sweeps", "configs/papers"})
    for (const auto& file : std::filesystem::directory_iterator(root / folder)) {
      CAPTURE(file.path().string());
      SweepArguments arguments;
      arguments.path = file.path();
      const Sweep sweep = read_sweep(arguments);
      CHECK(sweep.options.seeds.size() >= 6);
      CHECK(static_cast<double>(points_of(sweep).size()) == point_count(sweep));
      ++files;
    }
  CHECK(files >= 19);
}

TEST_CASE("sweep: points of lists, ranges and keys that vary together") {
  CHECK(SweepFile("").names() == Names{""});
  CHECK(SweepFile("[axes]\n\"optim.lr\" = [1e-3, 0.5]\nmodel.heads = [1, 2]\n").names() ==
        Names{"lr=0.001,heads=1", "lr=0.001,heads=2", "lr=0.5,heads=1", "lr=0.5,heads=2"});
  CHECK(SweepFile("[[zip]]\n\"model.heads\" = [1, 2]\n\"model.dim\" = [16, 32]\n"
                  "[[zip]]\n\"optim.lr\" = [1, 2]\n")
            .names() == Names{"heads=1,dim=16,lr=1.0", "heads=1,dim=16,lr=2.0",
                              "heads=2,dim=32,lr=1.0", "heads=2,dim=32,lr=2.0"});
  CHECK(SweepFile("[axes]\n\"optim.lr\" = { from = 1e-4, to = 1e-2, count = 3, log = true }\n")
            .names() == Names{"lr=0.0001", "lr=0.001", "lr=0.01"});
  CHECK(SweepFile("[axes]\n\"optim.lr\" = { from = 0, to = 1, count = 3 }\n").names() ==
        Names{"lr=0.0", "lr=0.5", "lr=1.0"});
  CHECK(SweepFile("[axes]\nmodel.dim = { from = 16, to = 256, count = 5, log = true }\n").names() ==
        Names{"dim=16", "dim=32", "dim=64", "dim=128", "dim=256"});
  // The whole key where the last component says too little.
  CHECK(SweepFile("[axes]\n\"optim.kind\" = [\"sgd\"]\n\"model.positional.kind\" = [\"rotary\"]\n")
            .names() == Names{"optim.kind=sgd,model.positional.kind=rotary"});
}

TEST_CASE("sweep: random points differ, and a larger number keeps those of a smaller one") {
  const std::string axes =
      "[axes]\n\"optim.lr\" = { from = 1e-4, to = 1e-1, log = true }\n\"model.heads\" = [1, 2]\n";
  const auto names = [&](int count, int seed) {
    return SweepFile("method = \"random\"\n[random]\ncount = " + std::to_string(count) +
                     "\nseed = " + std::to_string(seed) + "\n" + axes)
        .names();
  };
  const Names all = names(20, 1);
  CHECK(std::set(all.begin(), all.end()).size() == 20);
  CHECK(names(5, 1) == Names(all.begin(), all.begin() + 5));
  CHECK(names(5, 2) != names(5, 1));
  // All points of a small grid, each once.
  Names grid = SweepFile(
                   "method = \"random\"\n[random]\ncount = 6\n[axes]\n\"optim.lr\" = [1, 2, "
                   "3]\n\"model.heads\" = [1, 2]\n")
                   .names();
  std::sort(grid.begin(), grid.end());
  CHECK(grid == Names{"lr=1.0,heads=1", "lr=1.0,heads=2", "lr=2.0,heads=1", "lr=2.0,heads=2",
                      "lr=3.0,heads=1", "lr=3.0,heads=2"});
}

TEST_CASE("sweep: the error of a run is what it printed last, however late") {
  TrainingPool pool("sh -c 'echo early >&2; sleep 0.3; echo late >&2; exit 3'");
  pool.start(7, {});
  std::vector<TrainingPool::Ended> ended;
  while (ended.empty()) ended = pool.wait(1);
  CHECK(ended[0].id == 7);
  CHECK(ended[0].code == 3);
  CHECK(ended[0].error == "late");
  CHECK(pool.size() == 0);
}

TEST_CASE("sweep: names are names of folders") {
  CHECK(folder_name("lr=0.001,kind=rotary") == "lr=0.001,kind=rotary");
  const std::string path = folder_name("path=/a/../b");
  CHECK(path.starts_with("path=a..b-"));
  CHECK(path != folder_name("path=/a/./.b"));
  CHECK(folder_name("x=" + std::string(1000, 'a')).size() == 120);
  CHECK(folder_name("x=ä\n").starts_with("x=-"));
}

TEST_CASE("sweep: --seeds is a number of seeds, or the first and the last") {
  const SweepFile file("");
  SweepArguments arguments;
  arguments.path = file / "s.toml";
  const auto seeds = [&](const std::string& text) {
    arguments.seeds = text;
    return read_sweep(arguments).options.seeds;
  };
  CHECK(seeds("3") == std::vector<int64_t>{1, 2, 3});
  CHECK(seeds("7-9") == std::vector<int64_t>{7, 8, 9});
  CHECK(seeds("0-0") == std::vector<int64_t>{0});
  for (const char* wrong : {"9-7", "a", "1-", "-3", "1.5", "1-2-3", "0", "1-1e15"})
    CHECK_CONTAINS(thrown<InputError>([&] { seeds(wrong); }),
                   "expected their number, such as 6, or the first and the last, such as 7-12");
}

TEST_CASE("sweep: a score that does not exist is found before anything is trained") {
  const SweepFile file("[axes]\n\"optim.lr\" = [1e-3, 2e-3]\n");
  for (const char* wrong : {"val.los", "loss", "val.", "exact_match"})
    check_rejected(heed_in(file.path, {"sweep", "s.toml", "--run", "r", "--score", wrong}), 2,
                   {"--score", "there is no such score; choose one of SPLIT.loss"});
  check_rejected(heed_in(file.path, {"sweep", "s.toml", "--run", "r", "--columns", "val.loss,x"}),
                 2, {"--columns \"x\": there is no such score"});
  CHECK_FALSE(exists(file / "r"));
}

TEST_CASE("sweep: bad input is refused with file, line and column") {
  const auto refused = [](const std::string& lines, const std::string& part) {
    CHECK_CONTAINS(SweepFile(lines).error(), part);
  };
  refused("metod = \"grid\"\n", "s.toml:2:1: unknown key 'metod'; did you mean 'method'?");
  refused("method = \"gird\"\n", "s.toml:2:10: method: expected one of grid, random, halving");
  refused("[axes]\n\"optim.lx\" = [1]\n", "s.toml:3:1: unknown key 'optim.lx'");
  refused("[axes]\n\"optim.lr\" = [1, \"fast\"]\n", "s.toml:3:18: optim.lr: expected a number");
  refused("[axes]\n\"optim.lr\" = [1, -1]\n", "s.toml:3:18: optim.lr: expected a number, ≥ 0");
  refused("[axes]\n\"optim.lr\" = []\n", "s.toml:3:1: optim.lr: expected at least one value");
  refused("[axes]\n\"optim.lr\" = 1\n", "s.toml:3:1: optim.lr: expected a list of values");
  refused("[axes]\n\"optim.lr\" = [1e-3, 0.001]\n", "s.toml:3:1: optim.lr: 0.001 is there twice");
  refused("[axes]\n\"optim.lr\" = { from = 1, too = 2 }\n", "s.toml:3:26: unknown key 'too'");
  refused("[axes]\n\"optim.lr\" = { from = 1, to = 2 }\n", "optim.lr: a range needs count");
  refused("[axes]\n\"optim.lr\" = { from = 1, count = 2 }\n",
          "optim.lr: a range needs from and to");
  refused("[axes]\n\"optim.lr\" = { from = 0, to = 2, count = 2, log = true }\n",
          "with log = true from and to must be positive");
  refused("[axes]\nmodel.heads = { from = 1, to = 2, count = 3 }\n",
          "model.heads: the range has 2 twice");
  refused("[axes]\n\"optim.kind\" = { from = 1, to = 2, count = 3 }\n",
          "optim.kind: expected a list");
  refused("[axes]\nthreads = [1, 2]\n", "threads: the result of a run does not depend on it");
  refused("[axes]\nseed = [1, 2]\n", "seed: the seeds are an axis of their own");
  refused("[axes]\n\"optim.lr\" = [1]\n[[zip]]\n\"optim.lr\" = [1]\n", "optim.lr: varies twice");
  refused("[set]\n\"optim.lr\" = 1\n[axes]\n\"optim.lr\" = [1]\n", "optim.lr: is in [set], too");
  refused("[[zip]]\n\"optim.lr\" = [1]\n\"model.heads\" = [1, 2]\n",
          "model.heads: 2 values, but optim.lr has 1");
  refused("[set]\n\"optim.lx\" = 1\n", "s.toml:3:1: unknown key 'optim.lx'");
  refused("question = \"one\\ntwo\"\n", "s.toml:2:1: question: expected one line");
  refused("question = \"" + std::string(201, 'x') + "\"\n", "of at most 200 bytes");
  refused("seeds = [1, 1]\n", "s.toml:2:1: seeds: expected each seed once");
  refused("[random]\ncount = 3\n", "random.count: only used with method = \"random\"");
  refused("method = \"random\"\n[random]\ncount = 3\n[axes]\n\"optim.lr\" = [1, 2]\n",
          "random.count = 3: the axes have only 2 different points");
  refused("method = \"halving\"\n", "halving.rungs: expected the steps");
  refused("method = \"halving\"\n[halving]\nrungs = [20, 10]\n", "expected ascending steps");
  CHECK_CONTAINS(SweepFile("").heed({"sweep", "s.toml", "--axis", "optim.lr"}).err,
                 "--axis optim.lr: expected a key and its values");
}

TEST_CASE("sweep: a million points are refused without making them") {
  std::string lines = "max_runs = 200\nseeds = [1, 2]\n[axes]\n";
  for (const char* key : {"optim.lr", "optim.beta1", "optim.beta2"})
    lines += "\"" + std::string(key) + "\" = { from = 0, to = 0.5, count = 1000000 }\n";
  CHECK_CONTAINS(SweepFile(lines).error(),
                 "s.toml:2:1: the sweep has 2000000000000000000 runs (1000000000000000000 "
                 "points, 2 seeds), more than max_runs = 200");
}

TEST_CASE("sweep: the resolved file is the same sweep") {
  const SweepFile file(
      "question = \"Is a \\\"rate\\\" > 0?\"\nmethod = \"halving\"\nseeds = [4, "
      "2]\n[halving]\nrungs = [10, 20]\nkeep = 0.5\n"
      "[set]\n\"train.steps\" = 40\n[axes]\n\"optim.lr\" = { from = 1e-3, to = 1e-1, count = 3, "
      "log "
      "= true }\n[[zip]]\nmodel.dim = [16, 32]\n\"model.positional.kind\" = [\"rotary\", "
      "\"learned\"]\n");
  const Sweep sweep = file.read();
  CHECK(experiment_of(sweep).train.steps == 40);
  write_file(file / "again.toml", sweep_text(sweep, file / "c.toml"));
  SweepArguments arguments;
  arguments.path = file / "again.toml";
  const Sweep again = read_sweep(arguments);
  CHECK(sweep_text(again, "x") == sweep_text(sweep, "x"));
  CHECK(again.options.seeds == std::vector<int64_t>{4, 2});
  CHECK(again.options.question == "Is a \"rate\" > 0?");
}

TEST_CASE("sweep: each run is checked before one starts") {
  const SweepFile file("[axes]\nmodel.heads = [2, 3]\n\"data.val_size\" = [20, 0]\n");
  const SweepPlan plan = plan_sweep(file.read(), file / "folder", inspect_measures);
  REQUIRE(plan.runs.size() == 4);
  CHECK(plan.runs[0].refusal == "");
  CHECK(plan.runs[0].name == "heads=2,val_size=20/seed-3");
  CHECK(plan.runs[0].parameters > 0);
  CHECK(plan.runs[0].identity.size() == 64);
  CHECK_CONTAINS(plan.runs[2].refusal, "s.toml:3:7: model.heads = 3 does not divide 16");
  // Of a key that varies, and of one that the base has.
  const SweepFile rungs(
      "method = \"halving\"\n[halving]\nrungs = [15]\n[axes]\nmodel.heads = [1]\n");
  CHECK_CONTAINS(plan_sweep(rungs.read(), rungs / "folder", inspect_measures).runs[0].refusal,
                 "halving.rungs: at step 15 there is no evaluation");
  const ProgramOutput all = rungs.heed({"sweep", "s.toml", "--dry-run"});
  CHECK(all.code == 2);
  CHECK_CONTAINS(all.err, "\nerror: runs/s: each of its 1 run is refused\n");
  const SweepFile heads("question = \"Do heads matter?\"\n[axes]\nmodel.heads = [1, 2]\n");
  const std::string costs = succeeded(heads.heed({"sweep", "s.toml", "--dry-run"})).out;
  CHECK(costs.starts_with("Do heads matter?\n\n"));
  CHECK_CONTAINS(costs, "\nheads=2/seed-");
  const SweepFile metric("method = \"halving\"\n[halving]\nrungs = [10]\nmetric = \"val.bleu\"\n");
  CHECK_CONTAINS(
      thrown<InputError>([&] { plan_sweep(metric.read(), metric / "folder", inspect_measures); }),
      "halving.metric = \"val.bleu\": expected val. and one of loss");
}

TEST_CASE(
    "sweep: measures that are not there, or not for a model, are refused before a run starts") {
  const SweepFile file(
      "[set]\ntrain.measures = [\"lens\"]\n[axes]\nmodel.norm_first = [true, false]\n");
  const SweepPlan plan = plan_sweep(file.read(), file / "folder", inspect_measures);
  REQUIRE(plan.runs.size() == 2);
  CHECK(plan.runs[0].refusal == "");
  CHECK_CONTAINS(plan.runs[1].refusal, "train.measures: this model has no \"lens\"");
  const SweepFile unknown("[set]\ntrain.measures = [\"haeds\"]\n");
  CHECK_CONTAINS(
      plan_sweep(unknown.read(), unknown / "folder", inspect_measures).runs[0].refusal,
      "s.toml:3:7: train.measures: there is no measure \"haeds\"; the measures are train, heads");
  CHECK_CONTAINS(plan_sweep(file.read(), file / "folder", {}).runs[0].refusal,
                 "built without lab/");
}

TEST_CASE("sweep: runs that do not fit into memory at the same time name --jobs") {
  const SweepFile file("[axes]\nmodel.dim = [16, 32, 64]\n");
  const SweepPlan plan = plan_sweep(file.read(), file / "folder", inspect_measures);
  REQUIRE(plan.runs.size() == 3);
  const double largest = plan.runs[2].memory,
               all = largest + plan.runs[1].memory + plan.runs[0].memory;
  CHECK(plan.runs[0].memory > 0);
  CHECK(plan.runs[0].memory < plan.runs[1].memory);
  check_jobs(plan, 8, all);
  check_jobs(plan, 1, largest);
  CHECK_CONTAINS(thrown<InputError>([&] { check_jobs(plan, 8, all - 1); }),
                 "3 runs at a time need");
  CHECK_CONTAINS(thrown<InputError>([&] { check_jobs(plan, 8, all - 1); }), "use --jobs 2");
  CHECK_CONTAINS(thrown<InputError>([&] { check_jobs(plan, 2, largest); }), "use --jobs 1");
}

TEST_CASE("sweep: halving keeps the best points") {
  using Scores = std::vector<std::optional<double>>;
  using Indices = std::vector<size_t>;
  const Scores scores = {3.0, 1.0, std::nullopt, 2.0, 1.0, 5.0};
  CHECK(best_points(scores, true, 0.5) == Indices{1, 3, 4});
  CHECK(best_points(scores, false, 0.5) == Indices{0, 3, 5});
  CHECK(best_points(scores, true, 0.17) == Indices{1});  // of equal ones the first
  CHECK(best_points(scores, true, 0.001) == Indices{1});
  CHECK(best_points(scores, true, 0.99) == Indices{0, 1, 2, 3, 4, 5});
  CHECK(best_points({std::nullopt, std::nullopt}, true, 0.5) == Indices{0});

  const TemporaryFolder folder;
  const std::string path = folder / "metrics.jsonl";
  CHECK(score_at(path, "val.loss", 10) == std::nullopt);
  write_file(path,
             "{\"step\":5,\"loss\":9}\n{\"step\":10,\"val\":{\"loss\":2.5}}\n"
             "{\"step\":20,\"val\":{\"loss\":1.5}}\n{\"step\":30,\"val\":{\"lo");
  CHECK(score_at(path, "val.loss", 9) == std::nullopt);
  CHECK(score_at(path, "val.loss", 10) == 2.5);
  CHECK(score_at(path, "val.loss", 19) == 2.5);
  CHECK(score_at(path, "val.loss", 99) == 1.5);
  CHECK(score_at(path, "val.bleu", 99) == std::nullopt);
}

namespace {

// A sweep of two seeds on a file, d.tsv.
struct SweepOnFile : Workspace {
  SweepOnFile() {
    write_data('a');
    write_file(*this / "c.toml",
               "[model]\ndim = 8\nlayers = 1\nheads = 1\n[train]\nsteps = 4\nevaluate_every = "
               "2\n[data]\nkind = 'pairs'\npath = 'd.tsv'\n");
    write_file(*this / "s.toml", "config = \"c.toml\"\n");
  }
  // Each first letter is another file.
  void write_data(char first) const {
    std::string text;
    for (int i = 0; i < 200; ++i) text += fmt::format("{}{}\t{}\n", first, i * i, i);
    write_file(*this / "d.tsv", text);
  }
  ProgramOutput sweep(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"sweep", "s.toml", "--run", "s"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return heed(arguments);
  }
};

}  // namespace

TEST_CASE("sweep: copies of the data in each run are one set of data") {
  const SweepOnFile study;
  const std::vector<std::string> more = {"--axis", "optim.lr=1e-3,1e-2", "--seeds", "2"};
  std::vector<std::string> keep = more;
  keep.insert(keep.end(), {"--set", "data.keep=true"});
  const ProgramOutput kept = succeeded(study.sweep(keep));
  CHECK(exists(study / "s/lr=0.001/seed-2/data/1-path-d.tsv"));
  CHECK_CONTAINS(kept.out, "best by val.loss: optim.lr = ");
  CHECK(kept.out.find("data") == kept.out.npos);
  const Json compared = Json::parse(study.heed({"compare", "s", "--json"}).out, "compare");
  REQUIRE(compared.at("groups").elements().size() == 2);
  for (const Json& group : compared.at("groups").elements())
    CHECK(group.at("runs").elements().size() == 2);
  // The same runs without copies.
  const ProgramOutput again = succeeded(study.sweep(more));
  CHECK_CONTAINS(again.err, "4 of 4 runs were done before");
  CHECK(study.heed({"report", "s", "-o", "r.html"}).code == 0);
  const Json data = data_of(read_file(study / "r.html", "report"));
  CHECK(data.at("keys").text() == R"([{"key":"optim.lr","name":"lr","values":["0.001","0.01"]}])");
}

TEST_CASE("sweep, compare and report have the order of the axes and the same texts") {
  const SweepOnFile study;
  const ProgramOutput trained = succeeded(study.sweep(
      {"--axis", "model.positional.kind=sinusoidal,learned", "--seeds", "2", "--jobs", "2"}));
  CHECK_CONTAINS(trained.out, "divided by that of model.positional.kind = sinusoidal, paired");
  CHECK_CONTAINS(trained.out, "\nwith 2 pairs an interval leans on the assumption that ");
  CHECK(study.heed({"compare", "s"}).out == trained.out);
  CHECK(study.heed({"report", "s", "-o", "r.html"}).code == 0);
  const Json data = data_of(read_file(study / "r.html", "report"));
  CHECK(
      data.at("keys").text() ==
      R"([{"key":"model.positional.kind","name":"positions","values":["sinusoidal","learned"]}])");
  CHECK_CONTAINS(data.at("warnings").text(),
                 "with 2 pairs an interval leans on the assumption that ");
}

TEST_CASE("sweep: a run tells the keys of the sweep from those of [set] and of the config") {
  const SweepOnFile study;
  write_file(study / "s.toml",
             "config = \"c.toml\"\n[set]\n\"train.steps\" = 2\n[axes]\n\"optim.lr\" = [2e-3]\n");
  REQUIRE(study.sweep({"--seeds", "1", "--set", "train.batch_size=4"}).code == 0);
  const auto session_of = [&](const std::string& run) {
    return Json::parse(read_file(study / ("s/lr=0.002/" + run + "/run.json"), "record"), "record")
        .at("sessions")
        .elements()[0];
  };
  const auto check_origins = [&](const std::string& run) {
    const Json session = session_of(run);
    CHECK(session.at("sweep").string() == "s");
    const Json& set_in = session.at("set_in");
    CHECK(set_in.at("optim.lr").string() == "sweep");
    CHECK(set_in.at("train.steps").string() == "s.toml:3 [set]");
    CHECK(set_in.at("train.batch_size").string() == "command line");
    CHECK_CONTAINS(set_in.at("model.dim").string(), "c.toml:2");
  };
  check_origins("seed-1");
  CHECK_FALSE(study.has("s/lr=0.002/seed-1/snapshots"));  // unless they are asked for
  study.ok({"sweep", "s.toml", "--run", "seen", "--seeds", "1", "--set", "train.snapshots=2"});
  CHECK(names_in_folder(study / "seen/lr=0.002/seed-1/snapshots") ==
        std::vector<std::string>{"step-1.safetensors", "step-2.safetensors"});
  study.ok({"sweep", "s", "--seeds", "2"});  // continued from its folder
  check_origins("seed-2");
  CHECK(session_of("seed-2").at("set_in").at("seed").string() == "sweep");
  write_file(study / "s/origins.json", "{");
  check_rejected(study.heed({"train", "s/base.toml", "--sweep", "s", "--run", "r"}), 2,
                 {"s/origins.json"});
}

TEST_CASE("sweep: the data that it began with are those of every run") {
  const SweepOnFile study;
  REQUIRE(study.sweep({"--seeds", "1"}).code == 0);
  const Json record = Json::parse(read_file(study / "s/data.json", "data"), "data.json");
  const Json& files = record.at("data").elements().at(0).at("files");
  CHECK(files.elements().at(0).at("path").string().ends_with("/d.tsv"));
  const std::string rerun = "restore the file, or train in another folder";

  SUBCASE("a changed file is refused until it is restored") {
    study.write_data('b');
    check_rejected(study.sweep({"--seeds", "2"}), 2, {"/d.tsv: changed since", rerun});
    check_rejected(study.sweep({"--seeds", "2", "--dry-run"}), 2, {"/d.tsv: changed since"});
    CHECK_FALSE(exists(study / "s/seed-2"));
    study.write_data('a');
    CHECK_CONTAINS(study.sweep({"--seeds", "2"}).err, "1 of 2 runs were done before");
  }
  SUBCASE("a run of a sweep that does not exist is refused") {
    check_rejected(study.heed({"train", "c.toml", "--sweep", "none"}), 2,
                   {"--sweep none: no such folder"});
  }
  SUBCASE("a sweep that was killed before it wrote sweep.toml begins again") {
    for (const char* name : {"s/sweep.toml", "s/base.toml", "s/seed-1"}) remove_all(study / name);
    CHECK(study.sweep({"--seeds", "1"}).code == 0);
  }
  SUBCASE("what killed processes left is removed") {
    const std::vector<std::string> left = {"s/.tmp-base.toml", "s/seed-1/.tmp-run.json"};
    for (const std::string& name : left) write_file(study / name, "");
    CHECK(study.sweep({"--seeds", "1"}).code == 0);
    for (const std::string& name : left) CHECK_FALSE(exists(study / name));
  }
  SUBCASE("the file may move") {
    std::filesystem::rename(study / "d.tsv", study / "e.tsv");
    CHECK(study.sweep({"--seeds", "2", "--set", "data.path=e.tsv"}).code == 0);
    study.write_data('b');
    check_rejected(study.sweep({"--seeds", "2", "--set", "data.path=d.tsv"}), 2, {"/d.tsv: "});
    std::filesystem::rename(study / "d.tsv", study / "f.tsv");
    check_rejected(study.sweep({"--seeds", "2", "--set", "data.path=f.tsv"}), 2,
                   {"/f.tsv: not the data that the sweep s began with, from ", "/d.tsv"});
  }
  SUBCASE("swapped files are other data, but neither has changed") {
    std::filesystem::rename(study / "d.tsv", study / "t.tsv");
    study.write_data('b');
    const auto with = [&](const std::string& path, const std::string& test_path) {
      return study.heed({"sweep", "s.toml", "--run", "t", "--seeds", "1", "--set",
                         "data.path=" + path, "--set", "data.test_path=" + test_path});
    };
    succeeded(with("d.tsv", "t.tsv"));
    check_rejected(with("t.tsv", "d.tsv"), 2, {"not the data that the sweep t began with"});
  }
  SUBCASE("a file that changes while the sweep runs stops the runs that have not begun") {
    write_file(study / "launch",
               "case \"$*\" in *seed=3*) rm d.tsv; cp other.tsv d.tsv;; esac\nexec \"$@\"\n");
    study.write_data('b');
    std::filesystem::rename(study / "d.tsv", study / "other.tsv");
    study.write_data('a');
    const ProgramOutput output =
        study.sweep({"--seeds", "4", "--jobs", "1", "--launcher", "sh launch"});
    CHECK(output.code == 2);
    CHECK_CONTAINS(output.err, "error: seed-3: ");
    CHECK_CONTAINS(output.err, "error: seed-4: ");
    CHECK_CONTAINS(output.err, "/d.tsv: changed since the sweep s began; " + rerun);
    CHECK(exists(study / "s/seed-2/result.json"));
    CHECK_FALSE(exists(study / "s/seed-3"));
    study.write_data('a');
    CHECK(study.sweep({"--seeds", "4"}).code == 0);
  }
  SUBCASE("a damaged record is one line") {
    const std::string file = study / "s/data.json";
    const std::string good = read_file(file, "data");
    for (const std::string& text :
         {std::string(), std::string("[]"), std::string("{\"data\": 3}"),
          std::string("{\"data\": [{\"files\": []}]}"), good.substr(0, good.size() / 2),
          std::string(R"({"data": [{"files": [{"path": "d", "fingerprint": ""}]}]})"),
          std::string(R"({"data": [{"files": [{"path": "d", "fingerprint": "\u001b[31m"}]}]})")}) {
      write_file(file, text);
      check_rejected(study.sweep({"--seeds", "2"}), 2,
                     {"s/data.json", "or train in another folder"});
    }
    remove_all(file);
    make_folders(file);
    check_rejected(study.sweep({"--seeds", "2"}), 2, {"s/data.json"});
  }
}

TEST_CASE("sweep: the refusal of a run says what is in its folder") {
  const SweepOnFile study;
  REQUIRE(study.sweep({"--seeds", "2"}).code == 0);
  const auto refused = [&](const std::string& part) {
    const ProgramOutput output = study.sweep({"--seeds", "3"});
    CHECK(output.code == 2);
    CHECK_CONTAINS(output.err, "warning: seed-2 is refused: " + part);
  };
  const std::string config = study / "s/seed-2/config.toml", text = read_file(config, "config");
  std::string other = text;
  const size_t at = other.find("seed = 2");
  REQUIRE(at != other.npos);
  write_file(config, other.replace(at, 8, "seed = 9"));
  refused("s/seed-2: holds a run of another config: seed = 9, now 2; move it away");
  write_file(config, "seed = x\n");
  refused("s/seed-2: holds a damaged run: s/seed-2/config.toml:1:8: ");
  remove_all(study / "s/seed-2");
  study.write_data('b');
  REQUIRE(
      study.heed({"train", "c.toml", "--set", "seed=2", "--set", "threads=1", "--run", "s/seed-2"})
          .code == 0);
  study.write_data('a');
  refused("s/seed-2: holds a run on other data; ");
}

TEST_CASE("sweep: of several files, the one that changed is named") {
  const SweepOnFile study;
  std::filesystem::rename(study / "d.tsv", study / "t.tsv");
  study.write_data('b');
  std::filesystem::rename(study / "d.tsv", study / "u.tsv");
  study.write_data('c');
  const std::vector<std::string> more = {
      "--seeds", "1", "--set", "data.test_path=t.tsv", "--axis", "data.path=d.tsv,u.tsv"};
  const ProgramOutput first = succeeded(study.sweep(more));
  CHECK_CONTAINS(study.heed({"compare", "s"}).out, "data.path");
  std::filesystem::copy_file(study / "u.tsv", study / "t.tsv",
                             std::filesystem::copy_options::overwrite_existing);
  check_rejected(study.sweep(more), 2, {"/t.tsv: changed since"});
}

TEST_CASE("sweep: of two that begin at once on different data, one is refused") {
  const SweepOnFile study;
  std::filesystem::copy_file(study / "d.tsv", study / "e.tsv");
  study.write_data('b');
  Subprocess a({"sweep", "s.toml", "--run", "s"}, study.path),
      b({"sweep", "s.toml", "--run", "s", "--set", "data.path=e.tsv"}, study.path);
  const ProgramOutput first = a.wait(), second = b.wait();
  CHECK_MESSAGE(first.code + second.code == 2, first.err, second.err);
  CHECK_CONTAINS(first.err + second.err, "not the data that the sweep s began with");
}

TEST_CASE("sweep: a run whose lock another process holds when its training ends is waited for") {
  const SweepOnFile study;
  write_file(study / "launch",
             "setsid \"$@\" & until [ -e s/seed-1/run.json ]; do sleep 0.01; done\n"
             "kill -STOP $!; (sleep 1; kill -CONT $!) >/dev/null 2>&1 &\n");
  const ProgramOutput output =
      study.sweep({"--seeds", "1", "--set", "train.steps=200", "--launcher", "sh launch"});
  CHECK_MESSAGE(output.code == 0, output.err);
  CHECK(exists(study / "s/seed-1/result.json"));
}

TEST_CASE("sweep: each launcher has a folder of its own for what Open MPI writes") {
  const SweepOnFile study;
  write_file(
      study / "launch",
      "mkdir \"$OMPI_MCA_orte_tmpdir_base\" && echo \"$OMPI_MCA_orte_tmpdir_base\" >>folders\n"
      "exec \"$@\"\n");
  succeeded(study.sweep({"--seeds", "2", "--jobs", "2", "--launcher", "sh launch"}));
  const std::vector<std::string> folders = text_lines(read_file(study / "folders", "folders"));
  REQUIRE(folders.size() == 2);
  CHECK(folders[0] != folders[1]);
  for (const std::string& folder : folders) CHECK_FALSE(exists(folder));
}
