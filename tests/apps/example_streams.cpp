// Examples of two sources and of learned queries with an output each, in every command.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "apps/support/files.h"
#include "program.h"

using namespace heed;

namespace {

// The text names two letters, and the vectors say which of them each frame is, and so when the
// second one comes.
struct StreamRuns : Workspace {
  StreamRuns() {
    std::string spoken, asked, resized;
    for (int i = 0; i < 48; ++i) {
      const char first = "abcd"[i % 4], second = "abcd"[(i / 4) % 4];
      const std::string frames = i % 3 == 0 ? "[1, 0], [0, 1], [0, 1]" : "[1, 0], [1, 0], [0, 1]";
      const char middle = i % 3 == 0 ? second : first;
      spoken += fmt::format(
          "{{\"source\": \"{0} {1}\", \"input\": [{2}], \"target\": \"{0} {3} {1}\"}}\n", first,
          second, frames, middle);
      asked += fmt::format(
          "{{\"source\": \"{0} {1}\", \"input\": [{2}], \"target\": \"{0} {1} {3}\"}}\n", first,
          second, frames, i % 3 == 0 ? "early" : "late");
      resized += fmt::format("{{\"input\": [{0}, {1}, {2}], \"target\": [{0}, {2}]}}\n", i % 4,
                             i % 3, i % 5);
    }
    write("spoken.jsonl", spoken);
    write("asked.jsonl", asked);
    write("resized.jsonl", resized);
    train("spoken", "kind = 'classifier'\npool = 'none'\n");
    train("asked", "kind = 'seq2seq'\n");
    train("resized", "kind = 'classifier'\npool = 'queries'\npool_queries = 2\n");
  }
  void train(const std::string& name, const std::string& model) const {
    Workspace::train(name,
                     fmt::format("[train]\nsteps = 300\nbatch_size = 16\nevaluate_every = 100\n"
                                 "[optim]\nlr = 0.01\n[model]\nlayers = 1\ndim = 16\nheads = 2\n{}"
                                 "[data]\nkind = 'examples'\nlevel = 'word'\npath = '{}.jsonl'\n",
                                 model, name));
  }
};

const StreamRuns& stream_runs() {
  static const StreamRuns all;
  return all;
}

}  // namespace

TEST_CASE("streams: models of two sources and of learned queries learn, and answer lines") {
  const StreamRuns& runs = stream_runs();
  const auto score = [&](const std::string& run, const char* name) {
    return Json::parse(runs.ok({"evaluate", run, "--json", "--split", "train"}), "scores")
        .at(name)
        .number();
  };
  CHECK(score("spoken", "token_accuracy") > 0.95);
  CHECK(score("asked", "exact_match") > 0.95);
  CHECK(score("resized", "r2") > 0.95);
  const std::string line = R"({"source": "a d", "input": [[1, 0], [1, 0], [0, 1]]})";
  CHECK(succeeded(runs.heed({"generate", "spoken", "--input", "-"}, line + "\n")).out == "a a d\n");
  check_rejected(runs.heed({"generate", "asked", "--input", "-"}, line + "\n"), 2,
                 {"the inputs of this model are vectors, not text"});
  const std::string numbers = succeeded(runs.heed({"generate", "resized", "--input", "-"},
                                                  "{\"input\": [[1], [2], [3]]}\n"))
                                  .out;
  CHECK(std::count(numbers.begin(), numbers.end(), ' ') == 1);
  const ProgramOutput broken =
      runs.heed({"generate", "spoken", "--input", "-"}, "{\"input\": [[1, 0]]}\n");
  CHECK(broken.code == 2);
  CHECK_CONTAINS(broken.err, "\"source\": expected one beside the \"input\", as in training");
}

TEST_CASE("streams: a written split is read again, and other commands answer or refuse") {
  const StreamRuns& runs = stream_runs();
  for (const std::string run : {"spoken", "asked", "resized"}) {
    CAPTURE(run);
    runs.ok({"data", run, "--split", "train", "--write", "written.jsonl"});
    runs.ok({"data", run + ".toml", "--set", "data.path=written.jsonl", "--set",
             "data.val_fraction=0", "--set", "data.test_fraction=0"});
    runs.ok({"summary", run});
    runs.ok({"attend", run, "--example", "0", "--output", "a.svg"});
    runs.ok({"evaluate", run, "--predictions", run + "-predictions.jsonl"});
    runs.ok({"train", run + ".toml", "--run", run + "-on", "--set", "train.steps=320", "--set",
             "train.statistics=true"});
  }
  CHECK_CONTAINS(runs.ok({"data", "spoken.toml"}), "length of text: 2");
  if (has_command("inspect")) {
    check_rejected(runs.heed({"inspect", "spoken", "heads"}), 2, {"reads two sources"});
    check_rejected(runs.heed({"claims", "--model", "asked"}), 2, {"a model of one source"});
    runs.ok({"inspect", "resized", "ablate"});
    runs.ok({"claims", "--model", "resized"});
  }
  if (has_command("export")) {
    check_rejected(runs.heed({"export", "asked"}), 2, {"a model of two sources has no export"});
    runs.ok({"export", "resized"});
  }
  check_rejected(runs.heed({"train", "spoken.toml", "--set", "model.kind=language_model"}), 2,
                 {"a language model has an \"input\" or a \"source\""});
  check_rejected(runs.heed({"train", "resized.toml", "--set", "model.pool_queries=3"}), 2,
                 {"for each of the 3 learned queries, found 2"});
}
