// Training from a program that writes the examples: data.command.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <csignal>
#include <thread>

#include "apps/support/digest.h"
#include "core/joined.h"
#include "data/corpus.h"
#include "data/sampler.h"
#include "program.h"

using namespace heed;

namespace command_tests {

namespace {

// Reads its arguments into $split, $seed and $start.
constexpr const char* arguments =
    "while [ $# -gt 0 ]; do case $1 in --split) split=$2;; --seed) seed=$2;; --start) start=$2;; "
    "esac; shift 2; done\n";

// Writes endless examples, "kN …" of a number that depends on split, seed and number.
const std::string good_generator = std::string(arguments) + R"(
awk -v s="$split" -v i="$start" -v seed="$seed" 'BEGIN {
  for (;; ++i) {
    n = (i * 7 + seed + length(s)) % 13
    printf "{\"input\": \"%s k%d k%d k%d\", \"target\": \". . . k%d\"}\n", s == "val" ? "v" : s == "test" ? "t" : "r", n, i % 5, i % 3, n
  }
}')";

constexpr const char* head = R"(
seed = 3
[train]
steps = 200
batch_size = 16
shards = 2
evaluate_every = 50
checkpoint_every = 20
log_every = 10
samples = 0
best_by = "loss"
[model]
kind = "language_model"
layers = 1
dim = 16
heads = 2
dropout = 0.1
[optim]
lr = 0.01
[data]
)";

struct CommandWorkspace : Workspace {
  explicit CommandWorkspace(const std::string& generator = good_generator,
                            const std::string& more = "") {
    write("gen.sh", generator);
    write("c.toml", head +
                        std::string("kind = \"examples\"\nlevel = \"word\"\ncommand = [\"sh\", "
                                    "\"gen.sh\"]\nval_size = 30\ntest_size = 20\n") +
                        more);
  }
};

// Writes examples of a split as lines, {"input": "k0 v1 k0", "target": ". . v1"}.
std::string lines_of(const Corpus& corpus, const Dataset& dataset, int64_t count,
                     const std::function<int64_t(int64_t)>& order) {
  std::string text;
  const std::vector<std::string>& tokens = corpus.target->vocabulary().tokens();
  Example example;
  for (int64_t i = 0; i < count; ++i) {
    dataset.get(order(i), example);
    std::vector<std::string> input, target;
    for (const int32_t id : example.input) input.push_back(tokens[static_cast<size_t>(id)]);
    for (const int32_t id : example.target)
      target.push_back(id < 0 ? "." : tokens[static_cast<size_t>(id)]);
    text += fmt::format("{{\"input\": \"{}\", \"target\": \"{}\"}}\n", joined(input, " "),
                        joined(target, " "));
  }
  return text;
}

// Writes the files from which a program can print the examples of heed's own recall task, in the
// order in which it trains on them, and a config for each of the two: task.toml, c.toml.
struct RecallWorkspace : Workspace {
  RecallWorkspace() {
    DataOptions options;
    options.kind = &data_kinds::recall;
    options.symbols = 8;
    options.lengths = {4, 4};
    options.val_size = 30;
    options.test_size = 20;
    const Corpus task = load_corpus(options, ModelKind::language_model, 3);
    const Dataset& train = task.splits.at("train");
    const Shuffle shuffle(train.size, 3);
    write("train.jsonl", lines_of(task, train, 10'000, shuffle));
    for (const char* split : {"val", "test"})
      write(std::string(split) + ".jsonl",
            lines_of(task, task.splits.at(split), task.splits.at(split).size,
                     [](int64_t i) { return i; }));
    write("gen.sh", std::string(arguments) + "exec tail -n +$((start + 1)) $split.jsonl\n");
    write("task.toml", head + std::string("kind = \"recall\"\nsymbols = 8\nlengths = [4, 4]\n"
                                          "val_size = 30\ntest_size = 20\n"));
    write("c.toml", head + std::string("kind = \"examples\"\nlevel = \"word\"\ncommand = [\"sh\", "
                                       "\"gen.sh\"]\nval_size = 30\ntest_size = 20\n"
                                       "vocabulary = \"task/vocabulary.json\"\n"));
    ok({"train", "task.toml", "--run", "task"});
  }
  void check_same(const std::string& run) const {
    for (const char* file : {"model", "optimizer"}) {
      const std::string name = std::string("/checkpoints/latest/") + file + ".safetensors";
      CHECK(digest("task" + name) == digest(run + name));
    }
  }
};

void wait_for(const std::function<bool()>& condition) {
  for (int waited = 0; !condition() && waited < 30'000; ++waited)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  REQUIRE(condition());
}

}  // namespace

TEST_CASE("train: a command that prints the examples of a task trains to the same bits") {
  const RecallWorkspace here;
  here.ok({"train", "c.toml", "--run", "whole"});
  here.check_same("whole");
  CHECK(here.json("whole/run.json").at("sessions").elements()[0].at("program").at("words").text() ==
        "[\"sh\",\"gen.sh\"]");

  // Killed twice, resumed by name of the folder, and paused.
  for (const int64_t step : {20, 40}) {
    Subprocess run({"train", "c.toml", "--resume", "--run", "killed"}, here.path);
    wait_for([&] {  // the next checkpoint replaces it
      return here.has(fmt::format("killed/checkpoints/step-{}", step)) ||
             here.has(fmt::format("killed/checkpoints/step-{}", step + 20));
    });
    run.signal(SIGKILL);
    run.wait();
  }
  check_rejected(here.heed({"train", "--resume", "--run", "killed"}), 2,
                 {"killed: its examples come from a program, \"sh gen.sh\": look at it, and start "
                  "it with --allow-command"});
  here.ok({"train", "--resume", "--run", "killed", "--until", "170", "--allow-command"});
  here.ok({"train", "--resume", "--run", "killed", "--allow-command"});
  here.check_same("killed");
  CHECK_CONTAINS(here.ok({"train", "--from", "killed", "--allow-command", "--run", "again"}),
                 "the same bits up to step 200");
}

TEST_CASE("train: a run keeps what it needs of a command, and compares it") {
  const CommandWorkspace here;
  here.ok({"train", "c.toml", "--run", "run", "--set", "train.steps=40"});
  const Json session = here.json("run/run.json").at("sessions").elements()[0];
  const Json& program = session.at("program");
  CHECK(program.at("files").at(here / "gen.sh").string() == here.digest("gen.sh"));
  CHECK(program.at("examples").string() ==
        sha256(here.read("run/data/test.jsonl") + here.read("run/data/train.jsonl") +
               here.read("run/data/val.jsonl")));
  CHECK_CONTAINS(here.read("run/config.toml"), "command_folder = \"" + here.path + "\"");

  // Another program, also if its examples are the same.
  const std::string generator = here.read("gen.sh");
  here.write("gen.sh", generator + "# changed\n");
  check_rejected(here.heed({"train", "--resume", "--run", "run", "--allow-command"}), 2,
                 {"run: the data have changed since the training (one of ", "/gen.sh, sh gen.sh"});
  check_rejected(here.heed({"train", "--from", "run", "--run", "new", "--allow-command"}), 2,
                 {"the data have changed"});
  here.write("gen.sh", generator);
  write_file(here / "other.sh", generator);
  check_rejected(here.heed({"train", "--resume", "--run", "run", "--allow-command", "--set",
                            "data.command=['sh', 'other.sh']"}),
                 2, {"cannot be resumed with other values: data.command"});

  // No other command starts it.
  remove_all(here / "gen.sh");
  const std::string scores = here.ok({"evaluate", "run"});
  CHECK_CONTAINS(scores, "test");
  here.ok({"evaluate", "run", "--split", "train"});
  CHECK_CONTAINS(here.ok({"data", "run"}), "val: 30 examples");
  here.ok({"summary", "run"});
  here.ok({"attend", "run", "--example", "0"});
  if (has_command("compare")) here.ok({"compare", "run"});
  if (has_command("inspect")) here.ok({"inspect", "run", "lens"});
  if (has_command("report")) here.ok({"report", "run"});
  if (has_command("profile")) here.ok({"profile", "run", "--steps", "1"});
  here.write("run/data/val.jsonl", here.read("run/data/test.jsonl"));
  check_rejected(here.heed({"evaluate", "run"}), 2, {"what the run has kept of them ends"});
  remove_all(here / "run/data/val.jsonl");
  check_rejected(here.heed({"evaluate", "run"}), 2, {"run/data/val.jsonl: missing"});
}

TEST_CASE("train: heed config shows a command and does not start it, others start it as the user") {
  const CommandWorkspace here("echo here >marker\n" + good_generator);
  CHECK_CONTAINS(here.ok({"config", "c.toml"}), "command = [\"sh\", \"gen.sh\"]");
  CHECK_FALSE(here.has("marker"));
  here.ok({"data", "c.toml"});
  CHECK(here.read("marker") == "here\n");  // it may write where the user may
}

TEST_CASE("train: a sweep starts its command, and its folder alone does not") {
  if (!has_command("sweep")) return;
  const CommandWorkspace here;
  const std::vector<std::string> sweep = {"sweep", "--config", "c.toml",        "--seeds",
                                          "2",     "--run",    "sweep",         "--jobs",
                                          "1",     "--set",    "train.steps=40"};
  here.ok(sweep);
  here.ok(sweep);  // all are done
  CHECK(here.json("sweep/data.json").at("data").elements().size() == 2);
  check_rejected(here.heed({"sweep", "sweep"}), 2,
                 {"sweep: its examples come from a program: look at data.command in base.toml, and "
                  "start it with --allow-command"});
  here.ok({"sweep", "sweep", "--allow-command"});
  remove_all(here / "sweep/seed=1");
  here.write("gen.sh", here.read("gen.sh") + "# changed\n");
  check_rejected(here.heed(sweep), 2,
                 {"/gen.sh: changed since the sweep sweep began; restore the file"});
}

namespace {

// A broken generator, and the error.
struct Broken {
  std::string generator;
  std::vector<std::string> error;
  std::string more = "";  // of [data]
};

// Trains with each, and checks that the last line of the log is the error.
void check_broken(const std::vector<Broken>& all, const std::string& steps, bool has_begun) {
  for (const Broken& broken : all) {
    CAPTURE(broken.generator);
    const CommandWorkspace here(std::string(arguments) + broken.generator, broken.more);
    const ProgramOutput output =
        here.heed({"train", "c.toml", "--run", "run", "--set", "train.steps=" + steps});
    CHECK_MESSAGE(output.code == 2, output.err);
    const size_t line = output.err.rfind("\nerror: ") + 1;
    CHECK_MESSAGE(output.err.find('\n', line) == output.err.size() - 1, output.err);
    CHECK_MESSAGE(output.err.substr(line).starts_with("error: "), output.err);
    for (const std::string& part : broken.error) CHECK_CONTAINS(output.err.substr(line), part);
    CHECK(here.has("run") == has_begun);
    if (!has_begun) continue;
    CHECK(here.has("run/checkpoints/latest/model.safetensors"));
    CHECK_CONTAINS(here.read("run/error.txt"), broken.error[0]);
    CHECK_CONTAINS(output.err.substr(line), "; the checkpoint of step 60 is intact");
  }
}

// Examples 0 to 999 of training, and then something else.
std::string after_1000(const std::string& what) {
  return "line='{\"input\": \"a b\", \"target\": \". b\"}'\n"
         "if [ $split != train ]; then line='{\"input\": \"b '$split'\", \"target\": \". b\"}'; "
         "fi\n"
         "i=$start\n"
         "if [ $split = train ]; then\n"
         "  while [ $i -lt 1000 ]; do echo \"$line\"; i=$((i + 1)); done\n" +
         what + "\nfi\nexec yes \"$line\"";
}

}  // namespace

TEST_CASE("train: broken programs are refused with one line before a run begins") {
  const std::string good = R"({"input": "a b", "target": ". b"})";
  check_broken(
      {{"exit 0",
        {"sh gen.sh: --split val: expected example 0: the program ended with exit code 0"}},
       {"echo 'Traceback:' >&2; echo 'ValueError: no' >&2; exit 1",
        {"sh gen.sh: --split val: expected example 0: the program ended with exit code 1: "
         "ValueError: no"}},
       {"kill -SEGV $$", {"the program was ended by signal 11 (Segmentation fault)"}},
       {"for i in 1 2 3; do echo '" + good + "'; done",
        {"--split val: expected example 3: the program ended with exit code 0"}},
       {"sleep 100", {"the program wrote nothing for 1 s"}, "command_timeout = 1"},
       {"printf '{\"inp'; sleep 100", {"the program wrote nothing for 1 s"}, "command_timeout = 1"},
       {"printf '{\"inp'", {"ended with exit code 0 in the middle of a line"}},
       {"exec >&-; sleep 100", {"the program closed its standard output"}},
       {"exec cat /dev/zero", {"the program wrote a line of more than 16 MiB"}},
       {"exec yes 'a b'", {"sh gen.sh --seed 3 --start 0 --split train: line 1: "}},
       {"exec yes ''", {"sh gen.sh --seed 3 --start 0 --split train: line 1: "}},
       {"exec yes '[1, 2]'", {"sh gen.sh --seed 3 --start 0 --split train: line 1: "}},
       {"awk -v s=$split -v i=$start 'BEGIN { for (;; ++i) printf \"{\\\"input\\\": \\\"%s%d "
        "b\\\", "
        "\\\"target\\\": \\\"b\\\"}\\n\", s, i }'",
        {"line 1: "}},
       {"exec yes '{\"input\": \"a b\", \"target\": \". b\", \"colour\": 1}'", {"\"colour\""}},
       {"exec yes \"$(printf '{\"input\": \"a \\377\", \"target\": \". a\"}')\"", {"line 1: "}},
       {"awk -v s=$split 'BEGIN { for (;; ++i) printf \"{\\\"input\\\": \\\"%s n%d\\\", "
        "\\\"target\\\": "
        "\\\". a\\\"}\\n\", s, i }'",
        {"--split val --seed 3 --start 5: example 5 differs from that after --start 0: the program "
         "ignores --start"}},
       {"awk -v i=$start 'BEGIN { for (;; ++i) printf \"{\\\"input\\\": \\\"n%d a\\\", "
        "\\\"target\\\": \\\". "
        "a\\\"}\\n\", i }'",
        {"--split val has the examples of --split train: the program ignores --split"}},
       {"exec yes \"{\\\"input\\\": \\\"$$ a\\\", \\\"target\\\": \\\". a\\\"}\"",
        {"example 5 differs from that after --start 0: an example may depend on nothing but "
         "split"}},
       {"if [ $split = train ]; then echo '" + good + "'; fi; exec yes '" + good + "'",
        {"the program ignores --split"}},
       {"echo \"$(printf 'red \\033[31m')\" >&2; exit 9", {"exit code 9: red \\x1b[31m"}}},
      "100", false);
}

TEST_CASE("train: a program that breaks in the middle of a run leaves the last checkpoint") {
  const std::string more = "vocabulary_examples = 1000";
  check_broken(
      {{after_1000("echo gone >&2; exit 3"),
        {"step 63: sh gen.sh: --split train: expected example 1000: the program ended with exit "
         "code 3: gone"},
        more},
       {after_1000("kill -9 $$"), {"the program was ended by signal 9 (Killed)"}, more},
       {after_1000("echo waiting >&2; sleep 100"),
        {"expected example 1000: the program wrote nothing for 1 s: waiting"},
        more + "\ncommand_timeout = 1"},
       {after_1000("echo rubbish"),
        {"step 63: sh gen.sh --seed 3 --start 0 --split train: line 1001: "},
        more},
       {after_1000("echo '{\"input\": \"a z\", \"target\": \". b\"}'"),
        {"step 63: sh gen.sh --seed 3 --start 0 --split train: line 1001: ", "\"z\""},
        more},
       {after_1000("printf half; exit"), {"in the middle of a line"}, more}},
      "100", true);
}

TEST_CASE("train: options of a command that contradict each other") {
  const CommandWorkspace here;
  const auto refused = [&](const std::string& assignment, const std::string& error) {
    check_rejected(here.heed({"train", "c.toml", "--run", "run", "--set", assignment}), 2, {error});
  };
  refused("data.path=gen.sh", "data.path and data.command exclude each other");
  refused("data.val_fraction=0.2", "data.val_fraction and data.command exclude each other");
  refused("data.command=[]", "data.kind = \"examples\" needs data.path");
  refused("data.command=['']", "data.command: expected the name of a program");
  refused("data.command=['no-such-program']",
          "the program ended with exit code 127: no-such-program: No such file or directory");
  refused("data.command_folder=none", "the program ended with exit code 127");
  refused("train.batch_size=0", "train.batch_size");
}

}  // namespace command_tests
