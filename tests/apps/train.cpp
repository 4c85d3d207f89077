// heed train: run folders, resuming, interruption and errors.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <signal.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/config/experiment.h"
#include "apps/support/digest.h"
#include "apps/support/files.h"
#include "apps/support/json.h"
#include "apps/training/checkpoint.h"
#include "apps/training/training_loop.h"
#include "core/safetensors.h"
#include "disk_limits.h"
#include "program.h"

using namespace heed;

namespace {

// With the config c.toml.
struct TinyWorkspace : Workspace {
  explicit TinyWorkspace(const std::string& more = "") { write("c.toml", tiny_config(more)); }
};

// Returns the rows of metrics.jsonl without times.
std::string timeless_metrics(const std::string& path) {
  std::string rest = read_file(path, "metrics"), rows;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    Json row = Json::parse(rest.substr(0, end), path);
    for (const char* time : {"tokens_per_s", "seconds"}) row.remove(time);
    rows += row.text() + "\n";
    rest.erase(0, end + 1);
  }
  return rows;
}

// Checks that the runs a and b have the same weights and metrics.
void check_same_bits(const Workspace& workspace) {
  CHECK(workspace.digest("a/checkpoints/latest/model.safetensors") ==
        workspace.digest("b/checkpoints/latest/model.safetensors"));
  CHECK(timeless_metrics(workspace / "a/metrics.jsonl") ==
        timeless_metrics(workspace / "b/metrics.jsonl"));
}

// Returns the name and digest of each file of a run except .lock, which holds a process id.
std::vector<std::string> digests(const std::string& path) {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
    if (entry.is_regular_file() && entry.path().filename() != ".lock")
      all.push_back(entry.path().string() + " " + sha256_of_file(entry.path().string()));
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

TEST_CASE("train: announces data whose longest line takes far more than the others") {
  const TinyWorkspace workspace;
  const auto trains = [&](size_t longest) {
    std::string pairs;
    for (int i = 0; i < 100; ++i) pairs += "a" + std::string(i % 7, 'b') + "\tb\n";
    write_file(workspace / "pairs.tsv", std::string(longest, 'a') + "\tb\n" + pairs);
    write_file(workspace / "pairs.toml",
               "train.steps = 2\ntrain.batch_size = 2\nmodel.layers = 1\nmodel.dim = 8\n"
               "[data]\nkind = \"pairs\"\npath = \"pairs.tsv\"\ntest_fraction = 0\n");
    return succeeded(workspace.heed({"train", "pairs.toml"})).err;
  };
  CHECK(trains(9).find("longest batch: ") == std::string::npos);
  const std::string long_line = trains(500);
  CHECK_CONTAINS(long_line, "longest batch: 2 pairs of 500 and 2, ");
  CHECK_CONTAINS(long_line, " for 2 steps, by one measured step of ");
}

TEST_CASE("train: a run folder holds config, vocabulary, metrics, log, scores and checkpoints") {
  const TinyWorkspace workspace;
  const ProgramOutput output = succeeded(workspace.heed({"train", "c.toml", "--run", "r"}));
  CHECK_CONTAINS(output.out, "exact match");
  CHECK_CONTAINS(output.out, " → ");
  CHECK_CONTAINS(output.err, "step 30  validation: loss ");
  CHECK(output.err.find("resumed from") == output.err.npos);
  CHECK(output.err.find('\r') == output.err.npos);
  CHECK(names_in_folder(workspace / "r") ==
        std::vector<std::string>{".lock", "checkpoints", "config.toml", "metrics.jsonl",
                                 "result.json", "run.json", "snapshots", "train.log",
                                 "vocabulary.json"});
  const Json result = workspace.json("r/result.json");
  CHECK(result.at("steps").integer() == 30);
  CHECK(result.at("seconds").number() > 0);
  CHECK(result.at("tokens_per_s").number() > 0);
  for (const char* split : {"val", "test"})
    for (const char* score : {"loss", "perplexity", "token_accuracy", "exact_match"})
      CHECK(result.at(split).at(score).number() >= 0);
  const Json state = workspace.json("r/checkpoints/latest/state.json");
  CHECK(state.at("step").integer() == 30);
  CHECK(state.at("sha256").at("model.safetensors").string() ==
        workspace.digest("r/checkpoints/latest/model.safetensors"));
  CHECK(workspace.heed({"train", "c.toml"}).code == 0);
  CHECK(names_in_folder(workspace / "runs") == std::vector<std::string>{"c"});
}

TEST_CASE("train: results are bitwise reproducible for any number of threads") {
  const TinyWorkspace workspace("[model.positional]\nkind = \"learned\"\nmax_length = 8\n");
  CHECK(workspace.heed({"train", "c.toml", "--run", "a", "--set", "model.dropout=0.2"}).code == 0);
  CHECK(workspace.heed({"train", "a/config.toml", "--run", "b", "--set", "threads=1"}).code == 0);
  check_same_bits(workspace);
}

TEST_CASE("train: rejects a folder with a run, and a run that another process trains") {
  const TinyWorkspace workspace;
  workspace.ok({"train", "c.toml", "--run", "r"});
  const std::string before = workspace.digest("r/checkpoints/latest/model.safetensors");
  check_rejected(workspace.heed({"train", "c.toml", "--run", "r"}), 2,
                 {"r: not empty (it has ", "--resume --run r", "another folder with --run"});
  CHECK(workspace.digest("r/checkpoints/latest/model.safetensors") == before);
  const RunWriter lock(RunFolder::open(workspace / "r"));
  check_rejected(workspace.heed({"train", "--resume", "--run", "r"}), 2, {"is training in it"});
}

TEST_CASE("train: Ctrl-C saves a checkpoint, and the resumed run is bitwise identical") {
  const TinyWorkspace workspace;
  const std::vector<std::string> longer = {"--set", "train.steps=400", "--set",
                                           "model.dropout=0.1"};
  std::vector<std::string> arguments = {"train", "c.toml", "--run", "a"};
  arguments.insert(arguments.end(), longer.begin(), longer.end());
  workspace.ok(arguments);
  arguments[3] = "b";
  Subprocess program(arguments, workspace.path);
  while (program.running() && !workspace.has("b/checkpoints/latest")) ::usleep(1000);
  program.signal(SIGINT);
  const ProgramOutput output = program.wait();
  CHECK(output.code == 130);
  CHECK(output.out == "");
  CHECK_CONTAINS(output.err, "interrupted and saved; continue with: heed train --resume --run b\n");
  CHECK(workspace.json("b/checkpoints/latest/state.json").at("step").integer() < 400);
  CHECK(!workspace.has("b/result.json"));
  workspace.ok({"train", "--resume", "b"});
  check_same_bits(workspace);
}

TEST_CASE("train: --resume accepts changed intervals and paths, rejects other changes") {
  const TinyWorkspace workspace;
  write_file(workspace / "words.txt",
             "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n");
  write_file(workspace / "lines.toml",
             "[train]\nsteps = 10\nbatch_size = 2\n[model]\nkind = 'language_model'\nlayers = 1\n"
             "dim = 16\nheads = 2\n[data]\nkind = 'lines'\npath = 'words.txt'\n");
  workspace.ok({"train", "lines.toml", "--run", "r"});
  check_rejected(workspace.heed({"train", "--resume", "--run", "r", "--set", "model.heads=4",
                                 "--set", "optim.lr=1.0"}),
                 2, {"model.heads = 2, now 4", "optim.lr = 0.001, now 1.0", "train.steps"});
  workspace.ok({"train", "--resume", "--run", "r", "--set", "train.steps=12", "--set",
                "train.evaluate_every=6"});
  CHECK(workspace.json("r/result.json").at("steps").integer() == 12);
  CHECK_CONTAINS(read_file(workspace / "r/config.toml", "config"), "steps = 12 ");

  ::rename((workspace / "words.txt").c_str(), (workspace / "moved.txt").c_str());
  check_rejected(workspace.heed({"train", "--resume", "r"}), 2,
                 {"data.path: there is no such file: ", "words.txt; "});
  CHECK(workspace.heed({"train", "--resume", "r", "--set", "data.path=moved.txt"}).code == 0);
  write_file(workspace / "moved.txt", read_file(workspace / "moved.txt", "text") + "eleven\n");
  const std::vector<std::string> before = digests(workspace / "r");
  const ProgramOutput changed =
      workspace.heed({"train", "--resume", "r", "--set", "data.path=moved.txt"});
  CHECK(digests(workspace / "r") == before);
  CHECK(changed.code == 2);
  CHECK_CONTAINS(changed.err, "the data have changed since the training");
  check_rejected(workspace.heed({"evaluate", "r"}), 2,
                 {"r: the data have changed since the training", "/moved.txt)"});
  write_file(workspace / "other.txt", read_file(workspace / "moved.txt", "text") + "twelve\n");
  check_rejected(workspace.heed({"evaluate", "r", "--set", "data.path=other.txt"}), 2,
                 {"r: not trained on these data: --set data.path=other.txt changes them; remove "
                  "it, or name a file with the contents"});
  const ProgramOutput split = workspace.heed({"evaluate", "r", "--set", "data.val_fraction=0.3"});
  CHECK_CONTAINS(split.err, "data.val_fraction=0.3 changes them; remove it\n");

  check_rejected(workspace.heed({"train", "--resume"}), 2, {"--resume needs a run"});
  check_rejected(workspace.heed({"train", "--resume", "--run", "none"}), 2, {"none: no such run"});
  check_rejected(workspace.heed({"train", "--resume", "none"}), 2, {"none: no such run"});
  for (const char* key : {"train.steps", "threads", "data.path"}) {
    CHECK_MESSAGE(find_entry(list_config(Experiment()), key), key);
  }
}

TEST_CASE("train: --resume without a checkpoint restarts the run") {
  const TinyWorkspace workspace;
  workspace.ok({"train", "c.toml", "--run", "a"});
  workspace.ok({"train", "c.toml", "--run", "b"});
  remove_all(workspace / "b/checkpoints");
  remove_all(workspace / "b/result.json");
  workspace.ok({"train", "--resume", "--run", "b"});
  check_same_bits(workspace);
}

TEST_CASE("train: a value that is not finite stops the run and keeps the checkpoint") {
  const TinyWorkspace workspace;
  const std::vector<std::string> settings = {"train", "c.toml",
                                             "--run", "r",
                                             "--set", "optim.kind=sgd",
                                             "--set", "optim.clip_norm=0",
                                             "--set", "schedule.warmup_steps=20",
                                             "--set", "train.checkpoint_every=1",
                                             "--set", "optim.lr=1e9"};
  const ProgramOutput output = workspace.heed(settings);
  CHECK(output.code == 1);
  CHECK_CONTAINS(output.err, "error: step ");
  CHECK_CONTAINS(output.err, "train.detect_anomaly = true names the operation");
  CHECK_CONTAINS(output.err,
                 "; lower optim.lr (1000000000), raise schedule.warmup_steps (20), or "
                 "set optim.clip_norm = 1");
  CHECK(output.err.find("nan") == output.err.npos);
  const Checkpoints checkpoints(workspace / "r/checkpoints", 1);
  CHECK_CONTAINS(output.err, fmt::format("error: step {}: ", checkpoints.newest_step() + 1));
  if (!checkpoints.steps().empty()) CHECK_CONTAINS(output.err, "is intact");
  CHECK(!workspace.has("r/result.json"));
  std::vector<std::string> detecting = settings;
  detecting[3] = "w";
  detecting.insert(detecting.end(), {"--set", "train.detect_anomaly=true"});
  const ProgramOutput named = workspace.heed(detecting);
  CHECK(named.code == 1);
  CHECK_CONTAINS(named.err, "error: step ");
  CHECK_CONTAINS(named.err, "[");  // the shapes
}

TEST_CASE("train: scores other splits at evaluations, which changes no weight and no choice") {
  const TinyWorkspace workspace;
  workspace.ok({"train", "c.toml", "--run", "plain"});
  workspace.ok(
      {"train", "c.toml", "--run", "more", "--set", "train.evaluate_splits=[\"val\", \"test\"]"});
  CHECK(workspace.digest("more/checkpoints/step-30/model.safetensors") ==
        workspace.digest("plain/checkpoints/step-30/model.safetensors"));
  CHECK(workspace.digest("more/checkpoints/best/model.safetensors") ==
        workspace.digest("plain/checkpoints/best/model.safetensors"));
  // The last row has the scores of the last weights, which the run's result has if they are best.
  const std::string rows = timeless_metrics(workspace / "more/metrics.jsonl");
  CHECK(timeless_metrics(workspace / "plain/metrics.jsonl").find("\"test\"") == rows.npos);
  const std::string last = rows.substr(rows.rfind("{\"step\""));
  const Json row = Json::parse(last.substr(0, last.find('\n')), "row"),
             result = workspace.json("more/result.json");
  REQUIRE(result.at("best_step").integer() == 30);
  CHECK(row.at("val").text() == result.at("val").text());
  CHECK(row.at("test").text() == result.at("test").text());
  check_rejected(
      workspace.heed(
          {"train", "c.toml", "--run", "r", "--set", "train.evaluate_splits=[\"tset\"]"}),
      2, {"train.evaluate_splits: the data have no \"tset\"; the splits are test, train, val"});
  CHECK_FALSE(workspace.has("r"));
}

TEST_CASE("train: stops early and scores the best checkpoint") {
  const TinyWorkspace workspace;
  const ProgramOutput output = succeeded(workspace.heed(
      {"train", "c.toml", "--run", "r", "--set", "train.patience=2", "--set", "train.steps=1000",
       "--set", "optim.lr=0", "--set", "train.best_by=exact_match"}));
  CHECK_CONTAINS(output.err, "stopped at step 30: 2 evaluations in a row without improvement");
  CHECK(workspace.json("r/result.json").at("best_step").integer() == 10);
  CHECK(workspace.json("r/result.json").at("steps").integer() == 30);
  CHECK(workspace.json("r/checkpoints/best/state.json").at("step").integer() == 10);
  REQUIRE(workspace
              .heed({"train", "c.toml", "--run", "one", "--set", "train.steps=3", "--set",
                     "train.evaluate_every=1", "--set", "optim.lr=0"})
              .code == 0);
  CHECK(workspace.json("one/result.json").at("best_step").integer() == 1);
}

TEST_CASE("train: averaged weights are evaluated and saved, training and resuming stay the same") {
  const TinyWorkspace workspace;
  const auto train = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "train");
    workspace.ok(arguments);
  };
  // The rows of steps, which say how the weights are trained.
  const auto losses = [&](const std::string& run) {
    std::istringstream rows(timeless_metrics(workspace / (run + "/metrics.jsonl")));
    std::string found;
    for (std::string row; std::getline(rows, row);)
      if (row.find("\"val\"") == row.npos) found += row + "\n";
    return found;
  };
  train({"c.toml", "--run", "plain", "--set", "train.keep_checkpoints=9"});
  for (const std::string average : {"optim.ema=0.9", "train.average_checkpoints=3"}) {
    CAPTURE(average);
    train({"c.toml", "--run", "a", "--set", average});
    train({"c.toml", "--run", "b", "--set", average, "--set", "threads=1", "--set",
           "train.steps=20"});
    train({"--resume", "--run", "b", "--set", "train.steps=30"});
    for (const char* file : {"latest/model", "latest/optimizer", "best/model"})
      CHECK(workspace.digest(std::string("a/checkpoints/") + file + ".safetensors") ==
            workspace.digest(std::string("b/checkpoints/") + file + ".safetensors"));
    CHECK(timeless_metrics(workspace / "a/metrics.jsonl") ==
          timeless_metrics(workspace / "b/metrics.jsonl"));
    CHECK(losses("a") == losses("plain"));
    CHECK(workspace.digest("a/checkpoints/latest/model.safetensors") !=
          workspace.digest("plain/checkpoints/latest/model.safetensors"));
    CHECK(workspace.heed({"evaluate", "a", "--json"})
              .out.find(workspace.json("a/result.json").at("test").at("loss").text()) !=
          std::string::npos);
    if (average.starts_with("train")) {
      const auto weights = [&](const std::string& checkpoint) {
        const SafetensorsFile file(workspace / (checkpoint + "/model.safetensors"));
        std::vector<float> values;
        for (const NamedArray& array : file.arrays()) {
          values.resize(values.size() + static_cast<size_t>(array.bytes()) / sizeof(float));
          file.read(array, values.data() + values.size() - array.bytes() / 4);
        }
        return values;
      };
      const std::vector<float> mean = weights("a/checkpoints/step-30");
      const std::vector<float> parts[] = {weights("plain/checkpoints/step-10"),
                                          weights("plain/checkpoints/step-20"),
                                          weights("plain/checkpoints/step-30")};
      for (size_t i = 0; i < mean.size(); ++i)
        CHECK(mean[i] == doctest::Approx((parts[0][i] + parts[1][i] + parts[2][i]) / 3));
      check_rejected(workspace.heed({"train", "--resume", "--run", "a", "--set",
                                     "train.checkpoint_every=5", "--set", "train.steps=40"}),
                     2,
                     {"cannot be resumed with other values: train.checkpoint_every = 10, now 5"});
    }
    remove_all(workspace / "a");
    remove_all(workspace / "b");
  }
  check_rejected(workspace.heed({"config", "c.toml", "--set", "optim.ema=0.9", "--set",
                                 "train.average_checkpoints=2"}),
                 2, {"exclude each other"});
}

TEST_CASE("train: best_by takes any score that the data have, BLEU too") {
  const TinyWorkspace workspace;
  std::string pairs;
  for (int i = 0; i < 60; ++i) pairs += fmt::format("{} {}\t{} {}\n", i % 8, i % 7, i % 7, i % 8);
  write_file(workspace / "pairs.tsv", pairs);
  write_file(workspace / "pairs.toml",
             "[train]\nsteps = 8\nevaluate_every = 4\n[model]\nlayers = 1\ndim = 16\nheads = 2\n"
             "[data]\nkind = 'pairs'\npath = 'pairs.tsv'\n");
  workspace.ok({"train", "pairs.toml", "--run", "r", "--set", "train.best_by=bleu"});
  CHECK_CONTAINS(read_file(workspace / "r/metrics.jsonl", "metrics"), "\"bleu\":");
  CHECK(workspace.json("r/result.json").at("val").find("bleu"));
  // Without best_by a model of characters has no BLEU, and no note about it.
  const ProgramOutput characters = workspace.heed({"train", "pairs.toml", "--run", "c"});
  CHECK_CONTAINS(characters.out, "chrF2");
  CHECK(characters.out.find("BLEU") == characters.out.npos);
  CHECK_FALSE(workspace.json("c/result.json").at("val").find("bleu"));
  workspace.ok({"train", "pairs.toml", "--run", "b", "--set", "model.kind=language_model", "--set",
                "data.kind=lines", "--set", "train.best_by=bits_per_byte", "--set",
                "train.evaluate_every=1"});
  for (const char* run : {"r", "c", "b"}) {
    const RunFolder folder = RunFolder::open(workspace / run);
    CHECK(read_result(folder)->json().text(2) + "\n" == read_file(folder.result(), "result"));
  }
  double least = 1e9;
  int64_t step = 0;
  std::istringstream metrics(read_file(workspace / "b/metrics.jsonl", "metrics"));
  for (std::string line; std::getline(metrics, line);) {
    const Json row = Json::parse(line, "row");
    if (!row.find("val") || row.at("val").at("bits_per_byte").number() >= least) continue;
    least = row.at("val").at("bits_per_byte").number();
    step = row.at("step").integer();
  }
  CHECK(
      step ==
      Json::parse(read_file(workspace / "b/result.json", "result"), "").at("best_step").integer());
  check_rejected(workspace.heed({"config", "c.toml", "--set", "train.best_by=bits_per_byte"}), 2,
                 {"data.kind = \"copy\" has no such score"});
  check_rejected(workspace.heed({"config", "c.toml", "--set", "train.best_by=bleu"}), 2,
                 {"--set train.best_by=bleu: train.best_by = \"bleu\": data.kind = \"copy\" has no "
                  "such score; choose one of loss, perplexity, token_accuracy, exact_match"});
}

TEST_CASE("train: loads weights from another run and freezes parameters") {
  const TinyWorkspace workspace;
  workspace.ok({"train", "c.toml", "--run", "a"});
  workspace.ok({"train", "c.toml", "--run", "b", "--set", "train.load=a", "--set",
                "train.load_names=[\"encoder.*\"]", "--set", "train.freeze=[\"encoder.*\"]",
                "--set", "seed=8"});
  const SafetensorsFile a(workspace / "a/checkpoints/best/model.safetensors"),
      b(workspace / "b/checkpoints/best/model.safetensors");
  int same = 0, different = 0;
  for (const NamedArray& array : a.arrays()) {
    std::string x(static_cast<size_t>(array.bytes()), '\0'), y = x;
    a.read(array, x.data());
    b.read(*b.find(array.name), y.data());
    (x == y ? same : different) += 1;
    if (array.name.starts_with("encoder.")) CHECK_MESSAGE(x == y, array.name);
  }
  CHECK(same > 0);
  CHECK(different > 0);
  const auto rejects = [&](const std::string& setting, const std::string& part) {
    const ProgramOutput no = workspace.heed(
        {"train", "c.toml", "--run", "n", "--set", "train.load=a", "--set", setting});
    CHECK(no.code == 2);
    CHECK_CONTAINS(no.err, part);
    CHECK(!workspace.has("n"));
  };
  rejects("model.dim=32", "of type F32 [");
  rejects("model.layers=2", "has no ");
  rejects("train.load_names=[\"x\"]", "no parameter matches");
  rejects("train.freeze=[\"x\"]", "no parameter matches");
  rejects("train.load=nowhere", "nowhere: no such run or file");
}

TEST_CASE("train: links in a run folder are not followed") {
  const TinyWorkspace workspace;
  workspace.ok({"train", "c.toml", "--run", "good"});
  const auto copy_run = [&](const std::string& to) {
    std::filesystem::copy(
        workspace / "good", workspace / to,
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
  };
  const std::string secret = "token = \"hunter2\"\n";
  write_file(workspace / "secret", secret);
  copy_run("other");
  const std::vector<std::string> before = digests(workspace / "other");
  for (const char* name :
       {".lock", "config.toml", "vocabulary.json", "metrics.jsonl", "train.log", "result.json",
        "run.json", "checkpoints", "checkpoints/step-30", "snapshots"}) {
    copy_run("r");
    const std::string path = workspace / ("r/" + std::string(name));
    const bool folder = is_folder(path);
    remove_all(path);
    point_link(path, folder ? workspace / "other/checkpoints" : workspace / "secret");
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"train", "--resume", "r", "--set", "train.steps=31"},
          {"evaluate", "r"},
          {"generate", "r"},
          {"attend", "r", "--text", "1 2"},
          {"compare", "r"},
          {"summary", "r"},
          {"train", "c.toml", "--run", "n", "--set", "train.load=r"}}) {
      if (!has_command(arguments[0])) continue;
      const ProgramOutput output = workspace.heed(arguments);
      check_rejected(output, 2, {std::string(name) + ": expected a ", "found a link"});
      CHECK(output.err.find("hunter2") == output.err.npos);
    }
    remove_all(workspace / "r");
  }
  CHECK(read_file(workspace / "secret", "text") == secret);
  CHECK(digests(workspace / "other") == before);

  copy_run("r");  // links with temporary names are removed
  point_link(workspace / "r/.tmp-config.toml", workspace / "secret");
  point_link(workspace / "r/.tmp-metrics.jsonl", workspace / "secret");
  point_link(workspace / "r/checkpoints/.tmp-step-31", workspace / "other");
  point_link(workspace / "r/checkpoints/.tmp-latest", workspace / "secret");
  make_folders(workspace / "r/snapshots");
  const std::string snapshot = workspace / "r/snapshots/.tmp-step-3.safetensors";
  point_link(snapshot, workspace / "secret");
  CHECK(workspace.heed({"train", "--resume", "r", "--set", "train.steps=31"}).code == 0);
  CHECK(kind_of(snapshot) == FileKind::none);
  CHECK(read_file(workspace / "secret", "text") == secret);
  CHECK(digests(workspace / "other") == before);
}

TEST_CASE("train: rejects a base in the config of a run") {
  const TinyWorkspace workspace;
  workspace.ok({"train", "c.toml", "--run", "r"});
  write_file(workspace / "secret", "token = hunter2\n");
  const std::string config = read_file(workspace / "r/config.toml", "config");
  write_file(workspace / "r/config.toml", "base = \"../secret\"\n" + config);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"train", "--resume", "r"}, {"evaluate", "r"}, {"summary", "r"}})
    check_rejected(workspace.heed(arguments), 2,
                   {"r/config.toml:1:1: base: the config of a run must hold every value itself"});
}

TEST_CASE("train: renaming or deleting the run folder stops training") {
  const TinyWorkspace workspace;
  const std::vector<std::string> long_run = {"train", "c.toml",
                                             "--run", "r",
                                             "--set", "train.steps=100000",
                                             "--set", "train.log_every=1000"};
  const auto started = [&] {
    auto program = std::make_unique<Subprocess>(long_run, workspace.path);
    while (program->running() && !workspace.has("r/checkpoints/best")) ::usleep(1000);
    return program;
  };
  const auto renamed = started();
  REQUIRE(::rename((workspace / "r").c_str(), (workspace / "moved").c_str()) == 0);
  const ProgramOutput next = succeeded(workspace.heed({"train", "c.toml", "--run", "r"}));
  const std::vector<std::string> before = digests(workspace / "r");
  const ProgramOutput output = renamed->wait();
  CHECK(output.code == 1);
  CHECK_CONTAINS(output.err, "error: r: no longer the folder that this process trains in");
  CHECK(digests(workspace / "r") == before);
  CHECK(workspace.heed({"train", "--resume", "moved", "--until", "1"}).code == 0);

  remove_all(workspace / "r");
  const auto deleted = started();
  REQUIRE(::rename((workspace / "r").c_str(), (workspace / "gone").c_str()) == 0);
  remove_all(workspace / "gone");
  CHECK(deleted->wait().code == 1);
  CHECK(!workspace.has("r"));
}

TEST_CASE("train: files that are deleted during the training are written again") {
  const TinyWorkspace workspace;
  Subprocess program({"train", "c.toml", "--run", "r", "--set", "train.steps=100000", "--set",
                      "train.log_every=1", "--set", "train.evaluate_every=10"},
                     workspace.path);
  while (program.running() && !workspace.has("r/checkpoints/best")) ::usleep(1000);
  for (const char* file : {"metrics.jsonl", "train.log", "vocabulary.json", "config.toml"})
    remove_all(workspace / fmt::format("r/{}", file));
  program.signal(SIGINT);
  const ProgramOutput output = program.wait();
  CHECK(output.code == 130);
  CHECK_CONTAINS(output.err,
                 "warning: r/metrics.jsonl: deleted or replaced during the training; written "
                 "again with all rows");
  CHECK_CONTAINS(output.err, "the log of the run was deleted or replaced");
  CHECK_CONTAINS(output.err, "r/config.toml: deleted during the training; written again");
  CHECK(read_file(workspace / "r/metrics.jsonl", "metrics").starts_with("{\"step\":1,"));
  CHECK_CONTAINS(read_file(workspace / "r/train.log", "log"), "step 10  validation: loss ");
  CHECK(workspace.heed({"evaluate", "r"}).code == 0);

  remove_all(workspace / "r/metrics.jsonl");
  write_file(workspace / "r/.tmp-result.json", "");
  const int64_t step = Checkpoints(workspace / "r/checkpoints", 1).newest_step();
  const ProgramOutput resumed =
      succeeded(workspace.heed({"train", "--resume", "r", "--until", std::to_string(step + 2)}));
  CHECK_CONTAINS(resumed.err, "r/metrics.jsonl: missing; the rows up to step ");
  CHECK_FALSE(workspace.has("r/.tmp-result.json"));
}

TEST_CASE("train: SIGHUP saves the run unless it is ignored") {
  const TinyWorkspace workspace;
  Subprocess program({"train", "c.toml", "--run", "r", "--set", "train.steps=100000"},
                     workspace.path);
  while (program.running() && !workspace.has("r/checkpoints/latest")) ::usleep(1000);
  // The shell and the terminal both send one, at any time until the program ends.
  for (; program.running(); ::usleep(100)) program.signal(SIGHUP);
  const ProgramOutput output = program.wait();
  CHECK(output.code == 130);
  CHECK_CONTAINS(output.err, "interrupted and saved");
  succeeded(shell_in(workspace.path,
                     "trap '' HUP; $HEED train c.toml --run n --set train.steps=300 & "
                     "while [ ! -e n/checkpoints/latest ]; do sleep 0.01; done; "
                     "kill -HUP $!; wait $!"));
  CHECK(workspace.json("n/result.json").at("steps").integer() == 300);
}

TEST_CASE("train: a closed pipe on stderr does not stop training") {
  const TinyWorkspace workspace;
  const ProgramOutput output =
      shell_in(workspace.path,
               "$HEED train c.toml --run r --set train.steps=300 --set train.log_every=1 2>&1 | "
               "head -n 1; exit ${PIPESTATUS[0]}");
  CHECK(output.code == 141);  // nobody reads the scores
  CHECK(workspace.json("r/result.json").at("steps").integer() == 300);
}

TEST_CASE("train: exceeding the file size limit is a write error") {
  const TinyWorkspace workspace;
  const ProgramOutput output = shell_in(workspace.path, "ulimit -f 20; $HEED train c.toml --run r");
  CHECK(output.code == 1);
  CHECK_CONTAINS(output.err, ".safetensors: cannot write: File too large; make room on the disk");
  const ProgramOutput reference =
      shell_in(workspace.path, "ulimit -f 4; $HEED config --reference >reference.md");
  CHECK(reference.code == 1);
  CHECK_CONTAINS(reference.err, "error: ");
}

TEST_CASE("train: runs that start at the same moment have different folders") {
  const TinyWorkspace workspace;
  std::vector<std::unique_ptr<Subprocess>> programs;
  for (int i = 0; i < 24; ++i)
    programs.push_back(std::make_unique<Subprocess>(
        std::vector<std::string>{"train", "c.toml", "--set", "train.steps=1", "--set", "threads=1",
                                 "--set", "seed=" + std::to_string(i)},
        workspace.path));
  for (const auto& program : programs) succeeded(program->wait());
  std::set<std::string> configs;
  const std::vector<std::string> names = names_in_folder(workspace / "runs");
  for (int i = 1; i <= 24; ++i)
    CHECK(std::ranges::count(names, i == 1 ? "c" : fmt::format("c-{}", i)) == 1);
  for (const std::string& name : names) {
    CHECK(workspace.has("runs/" + name + "/result.json"));
    configs.insert(read_file(workspace / ("runs/" + name + "/config.toml"), "config"));
  }
  CHECK(configs.size() == 24);
}

TEST_CASE("train: mentions how to resume the last run of the config if it is unfinished") {
  const TinyWorkspace workspace;
  const auto trained = [&](const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"train", "c.toml", "--set", "train.steps=4"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return workspace.heed(arguments).err;
  };
  CHECK(trained({"--until", "2"}).find("instead") == std::string::npos);
  const std::string mention =
      "runs/c: unfinished; to continue it instead: heed train --resume --run runs/c\n";
  const std::string second = trained();
  CHECK_CONTAINS(second, "run runs/c-2\n");
  CHECK_CONTAINS(second, mention);
  CHECK(trained().find("instead") == std::string::npos);  // runs/c-2 is done
  CHECK(workspace.heed({"train", "--resume", "--run", "runs/c"}).code == 0);
  CHECK(trained().find("instead") == std::string::npos);
  {
    const RunWriter lock(RunFolder::open(workspace / "runs/c-4"));
    CHECK_CONTAINS(trained(), "runs/c-4: another process is training it\n");
  }
  write_file(workspace / "runs/c-5/error.txt", "the disk is full\n");
  CHECK_CONTAINS(trained(), "runs/c-5: failed; to continue it instead: heed train --resume ");
  write_file(workspace / "runs/c-6/config.toml", "?");  // no reason not to train
  CHECK_CONTAINS(trained(), "run runs/c-7\n");
}

TEST_CASE("train: rejects paths that are not UTF-8") {
  const TinyWorkspace workspace;
  make_folders(workspace / "caf\xE9");
  write_file(workspace / "caf\xE9/words.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n");
  write_file(workspace / "lines.toml",
             "[train]\nsteps = 2\nbatch_size = 2\n[model]\nkind = 'language_model'\nlayers = 1\n"
             "dim = 16\nheads = 2\n[data]\nkind = 'lines'\npath = 'words.txt'\n");
  // A relative path in a folder whose name is not UTF-8.
  write_file(workspace / "caf\xE9/lines.toml", read_file(workspace / "lines.toml", "config"));
  check_rejected(workspace.heed({"train", "caf\xE9/lines.toml", "--run", "r"}), 2,
                 {"data.path = \"", "caf\\xe9/words.txt", "expected UTF-8; rename"});
  check_rejected(workspace.heed({"train", "c.toml", "--run", "caf\xE9/r"}), 2,
                 {"--run ", "expected UTF-8"});
  CHECK(!workspace.has("r"));
  CHECK(!workspace.has("caf\xE9/r"));
}

TEST_CASE("train: a run of format 1 evaluates, generates and resumes") {
  const TinyWorkspace workspace;
  const auto fixtures = std::filesystem::path(__FILE__).parent_path().parent_path() / "fixtures";
  std::filesystem::copy(
      fixtures / "run", workspace / "r",
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
  const std::string output = workspace.ok({"evaluate", "r", "--json"});
  CHECK(Json::parse(output, "out").at("loss").number() ==
        doctest::Approx(workspace.json("r/result.json").at("test").at("loss").number())
            .epsilon(1e-5));
  CHECK(heed_in(workspace.path, {"generate", "r"}, "1 2 3\n").code == 0);
  workspace.ok({"train", "--resume", "r", "--set", "train.steps=6"});
  CHECK(workspace.json("r/run.json").at("sessions").elements().size() == 2);
}

TEST_CASE("train: write errors leave the previous checkpoint intact") {
  const TinyWorkspace workspace;
  workspace.ok({"train", "c.toml", "--run", "r"});
  const std::string before = workspace.digest("r/checkpoints/latest/model.safetensors");
  const std::vector<std::string> arguments = {"train", "--resume", "--run",
                                              "r",     "--set",    "train.steps=60"};
  {
    // Larger than the resolved config, smaller than the weights.
    const FileSizeLimit limit(20'000);
    const ProgramOutput output = workspace.heed(arguments);
    CHECK(output.code == 1);
    CHECK_CONTAINS(output.err, ".safetensors: cannot write: File too large; make room on the disk");
  }
  CHECK(Checkpoints(workspace / "r/checkpoints", 1).steps() == std::vector<int64_t>{30});
  CHECK(workspace.digest("r/checkpoints/latest/model.safetensors") == before);

  ::chmod((workspace / "r").c_str(), 0555);
  ::chmod(workspace.path.c_str(), 0755);
  const int result = as_nobody([&] {
    const ProgramOutput output = workspace.heed(arguments);
    // Another user cannot open the lock; the owner can, and fails at a later file.
    const bool named =
        output.err.starts_with("error: r/") &&
        output.err.find(": cannot write: Permission denied; allow") != output.err.npos;
    return output.code == 1 && named ? 1 : 2;
  });
  if (result == -1) MESSAGE("SKIPPED: this process may not change its user");
  if (result != -1) CHECK(result == 1);
  ::chmod((workspace / "r").c_str(), 0755);
  CHECK(workspace.heed(arguments).code == 0);
}
