// Examples as JSON lines: every kind of model trains, is scored, predicts and answers with them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "apps/support/files.h"
#include "apps/support/json.h"
#include "program.h"

using namespace heed;

namespace {

// Trains a model of each form: what a position has to say is whether its letter is a vowel.
struct ExampleRuns : Workspace {
  ExampleRuns() {
    std::string positions, losses, tags, labels, pairs, rows, labelled;
    for (int i = 0; i < 64; ++i) {
      std::string letters, kinds, targets, probabilities;
      for (int t = 0; t < 3; ++t) {
        const char letter = "abei"[(i >> (2 * t)) % 4];
        const std::string kind = letter == 'b' ? "no" : "yes", space = t == 0 ? "" : " ";
        letters += space + letter;
        kinds += space + kind;
        targets += space + (t == 0 ? "." : kind);
        // Of a, b, e, i, no, yes: the best predictor is nearly sure.
        if (t > 0)
          probabilities += std::string(t > 1 ? ", " : "") + "[0, 0, 0, 0, " +
                           (kind == "no" ? "0.75, 0.25]" : "0.25, 0.75]");
      }
      const std::string group = i % 2 == 0 ? "even" : "odd";
      positions +=
          fmt::format(R"({{"input": "{}", "target": "{}", "reference": [{}], "group": "{}"}})"
                      "\n",
                      letters, targets, probabilities, group);
      losses += fmt::format(R"({{"input": "{}", "target": "{}", "reference": [0.25, 0.5]}})"
                            "\n",
                            letters, targets);
      tags += fmt::format("{{\"input\": \"{}\", \"target\": \"{}\"}}\n", letters, kinds);
      labels += fmt::format("{{\"input\": \"{}\", \"target\": \"first {}\"}}\n", letters,
                            kinds.substr(0, kinds.find(' ')));
      pairs += fmt::format("{{\"source\": \"{}\", \"target\": \"{}\"}}\n", letters, kinds);
      rows += letters + "\t" + kinds + "\n";
      labelled += letters + "\t" + kinds.substr(0, kinds.find(' ')) + "\n";
    }
    write("positions.jsonl", positions);
    write("losses.jsonl", losses);
    write("tags.jsonl", tags);
    write("labels.jsonl", labels);
    write("pairs.jsonl", pairs);
    write("pairs.tsv", rows);
    write("labelled.tsv", labelled);
    train("positions", "language_model", "positions.jsonl");
    train("losses", "language_model", "losses.jsonl");
    train("tags", "classifier", "tags.jsonl", "pool = 'none'\n");
    train("labels", "classifier", "labels.jsonl");
    train("pairs", "seq2seq", "pairs.jsonl");
    train("prompts", "language_model", "pairs.jsonl");
    train("rows", "language_model", "pairs.tsv", "", "pairs");
    train("labelled", "language_model", "labelled.tsv", "", "labelled");
  }
  void train(const std::string& name, const std::string& model, const std::string& file,
             const std::string& more = "", const std::string& kind = "examples") const {
    Workspace::train(
        name, fmt::format("[train]\nsteps = 400\nbatch_size = 16\nevaluate_every = 200\n[optim]\n"
                          "lr = 0.01\n[model]\nlayers = 1\ndim = 16\nheads = 2\nkind = '{}'\n{}"
                          "[data]\nkind = '{}'\nlevel = 'word'\npath = '{}'\n",
                          model, more, kind, file));
  }
};

const ExampleRuns& example_runs() {
  static const ExampleRuns all;
  return all;
}

Json example_scores(const std::string& run) {
  return Json::parse(example_runs().ok({"evaluate", run, "--json", "--split", "train"}), "scores");
}

}  // namespace

TEST_CASE("examples: every form trains, and predictions agree with the scores") {
  for (const std::string run :
       {"positions", "tags", "labels", "pairs", "prompts", "rows", "labelled"}) {
    CAPTURE(run);
    const Json scores = example_scores(run);
    CHECK(scores.at("token_accuracy").number() > 0.9);
    const ExampleRuns& runs = example_runs();
    runs.ok({"evaluate", run, "--split", "train", "--predictions", "p.jsonl"});
    int64_t correct = 0, count = 0;
    std::istringstream lines(read_file(runs / "p.jsonl", "predictions"));
    for (std::string line; std::getline(lines, line); ++count) {
      const Json row = Json::parse(line, "row");
      const bool same = row.at("predicted").string() == row.at("expected").string();
      CHECK(row.at("correct").flag() == same);
      correct += same;
    }
    CHECK(count == scores.at("examples").integer());
    CHECK(static_cast<double>(correct) / static_cast<double>(count) ==
          doctest::Approx(scores.at("exact_match").number()));
    CHECK_CONTAINS(runs.ok({"evaluate", run, "--by", "^(.)"}), "exact match");
  }
}

TEST_CASE("examples: two readers of the same pairs give the same training") {
  const Json prompts = example_scores("prompts"), rows = example_scores("rows");
  CHECK(prompts.at("loss").number() == rows.at("loss").number());
}

TEST_CASE("examples: splits that heed data has written are read as the same data") {
  const ExampleRuns& runs = example_runs();
  for (const char* run : {"positions", "tags", "labels", "pairs", "prompts", "rows", "labelled"}) {
    CAPTURE(run);
    std::vector<std::string> read = {"data", run, "--set", "data.kind=examples"};
    for (const std::string key : {"path", "val_path", "test_path"}) {
      const std::string split = key == "path" ? "train" : key.substr(0, key.find('_'));
      runs.ok({"data", run, "--split", split, "--write", split + ".jsonl"});
      for (const std::string& word : {std::string("--set"), "data." + key + "=" + split + ".jsonl"})
        read.push_back(word);
    }
    CHECK(runs.ok(read) == runs.ok({"data", run}));
    for (const char* split : {"train", "test"}) {
      std::vector<std::string> write = read;
      for (const char* word : {"--split", split, "--write", "again.jsonl"}) write.push_back(word);
      runs.ok(write);
      CHECK(runs.read("again.jsonl") == runs.read(std::string(split) + ".jsonl"));
    }
  }
  CHECK_CONTAINS(runs.read("test.jsonl"), "\"source\"");
  runs.ok({"data", "positions", "--split", "test", "--write", "test.jsonl"});
  CHECK_CONTAINS(runs.read("test.jsonl"), "\"reference\":[[0.0,0.0,0.0,0.0,0.");
}

TEST_CASE("examples: the distance to a reference is a score") {
  const Json scores = example_scores("positions");
  const double loss = scores.at("loss").number(), above = scores.at("loss_above_best").number();
  // Each target has the probability 3/4.
  CHECK(above == doctest::Approx(loss + std::log(0.75)));
  // A model that is sure gives KL(p‖q) of the probability that the reference leaves to the other.
  CHECK(scores.at("divergence").number() > 0);
  CHECK(example_scores("tags").find("divergence") == nullptr);
  // A reference may also be the loss of the best predictor, here of the targets at 1 and 2.
  const Json all = example_scores("losses");
  CHECK(all.at("loss_above_best").number() == doctest::Approx(all.at("loss").number() - 0.375));
  CHECK(all.find("divergence") == nullptr);
  const Json last = Json::parse(
      example_runs().ok({"evaluate", "losses", "--json", "--positions", "2:2"}), "scores");
  CHECK(last.at("loss_above_best").number() == doctest::Approx(last.at("loss").number() - 0.5));
}

TEST_CASE("examples: generate and evaluate --input read what the data hold") {
  const ExampleRuns& runs = example_runs();
  CHECK(succeeded(runs.heed({"generate", "tags", "--input", "-"}, "a b\n\ni\n")).out ==
        "yes no\n\nyes\n");
  CHECK(succeeded(runs.heed({"generate", "positions", "--input", "-", "--json"}, "a b e\n")).out ==
        "{\"line\":1,\"input\":\"a b e\",\"predicted\":[\"yes\",\"no\",\"yes\"]}\n");
  CHECK(succeeded(runs.heed({"generate", "prompts", "--input", "-"}, "a b i\n")).out ==
        "yes no yes\n");
  CHECK(succeeded(runs.heed({"generate", "labelled", "--prompt", "b a a"})).out == "no\n");
  check_rejected(runs.heed({"generate", "prompts"}), 2, {"expected the problem as --prompt"});
  const auto scored = [&](const std::string& run, const std::string& line) {
    return succeeded(runs.heed({"evaluate", run, "--input", "-"}, line + "\n")).out;
  };
  const std::string tagged = R"({"input": "a b", "target": ["yes", null]})";
  CHECK_CONTAINS(scored("tags", tagged), "\tright\t" + tagged);
  CHECK_CONTAINS(scored("positions", R"({"input": "a b e", "target": ". yes yes"})"), "\twrong\t");
  CHECK_CONTAINS(scored("pairs", R"({"source": "a b b", "target": "yes no no"})"), "\tright\t");
  CHECK_CONTAINS(scored("rows", "a b b\tyes no no"), "\tright\t");
  CHECK_CONTAINS(scored("labelled", "a b b\tyes"), "\tright\t");
  CHECK_CONTAINS(scored("labels", R"({"input": "a b", "target": "first yes"})"), "\tright\t");
  const ProgramOutput broken =
      runs.heed({"evaluate", "tags", "--input", "-"},
                "{\"input\": \"a\"}\nx\n{\"input\": \"a b\", \"target\": \"yes\"}\n");
  CHECK(broken.code == 2);
  CHECK_CONTAINS(broken.err, "standard input:1: \"target\": missing: an example has a target");
  CHECK_CONTAINS(broken.err, "standard input:2: expected an object");
  CHECK_CONTAINS(
      broken.err,
      "standard input:3: \"target\": expected a target, or none, at each of the 2 positions");
}

TEST_CASE("examples: other commands read models with a target at each position") {
  const ExampleRuns& runs = example_runs();
  if (has_command("inspect")) runs.ok({"inspect", "tags", "ablate"});
  runs.ok({"attend", "tags", "--example", "0", "--output", "a.svg"});
  runs.ok({"summary", "tags"});
}
