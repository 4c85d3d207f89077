// Runs on vectors and numbers, from a file of examples to what the commands print.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/random.h"
#include "program.h"

using namespace heed;

namespace {

// Sequences x, y, x, y, … of points of a line of its own, y = w x, with a target at each x.
std::string sequences(int64_t count, bool whole) {
  std::string lines;
  Random random(1, Purpose::task);
  for (int64_t i = 0; i < count; ++i) {
    const double w = random.normal();
    std::string input, target;
    for (int64_t point = 0; point < 3 + i % 2; ++point) {
      const double x = random.normal();
      const char* const comma = point == 0 ? "" : ", ";
      input += fmt::format("{}[{:.4f}, 0], [0, {:.4f}]", comma, x, w * x);
      target += fmt::format("{}{:.4f}, null", comma, w * x);
    }
    lines += fmt::format("{{\"input\": [{}], \"target\": {}}}\n", input,
                         whole ? fmt::format("{:.4f}", w) : "[" + target + "]");
  }
  return lines;
}

std::string regression_config(const char* kind, const char* more = "") {
  return fmt::format(
      "[train]\nsteps = 30\nbatch_size = 16\nsamples = 1\nevaluate_every = 15\n{}"
      "[model]\nkind = '{}'\nlayers = 1\ndim = 16\nheads = 2\n{}[optim]\nlr = 3e-3\n"
      "[data]\nkind = 'examples'\npath = '{}.jsonl'\n",
      has_command("inspect") ? "measures = ['train', 'heads']\n" : "", kind, more, kind);
}

struct Regressions : Workspace {
  Regressions() {
    write("language_model.jsonl", sequences(300, false));
    write("classifier.jsonl", sequences(300, true));
    train("line", regression_config("language_model"));
    train("slope", regression_config("classifier"));
  }
};

}  // namespace

TEST_CASE("regression: evaluate, predictions, generate, data and compare say numbers") {
  const Regressions folder;
  const Json scores = Json::parse(folder.ok({"evaluate", "line", "--json"}), "output");
  CHECK(scores.at("loss").number() > 0);
  CHECK(scores.at("r2").number() < 1);
  CHECK_FALSE(scores.find("token_accuracy"));
  CHECK_FALSE(scores.find("perplexity"));
  CHECK_FALSE(scores.find("errors_by_length"));
  CHECK_FALSE(Json::parse(folder.ok({"evaluate", "slope", "--json"}), "output").find("confusion"));
  CHECK_CONTAINS(folder.ok({"evaluate", "line", "--by", "length"}), "6");
  CHECK_CONTAINS(folder.ok({"data", "line.toml"}), "targets: mean ");

  folder.ok({"evaluate", "line", "--predictions", "line.out.jsonl"});
  const std::string rows = folder.read("line.out.jsonl");
  const Json row = Json::parse(rows.substr(0, rows.find('\n')), "row");
  const auto& predicted = row.at("predicted").elements();
  const auto& expected = row.at("expected").elements();
  REQUIRE((predicted.size() == expected.size() && predicted.size() >= 6));
  CHECK(expected[1].is_null());
  CHECK(predicted[0].is_number());
  folder.ok({"evaluate", "slope", "--predictions", "slope.out.jsonl"});
  CHECK(Json::parse(
            folder.read("slope.out.jsonl").substr(0, folder.read("slope.out.jsonl").find('\n')),
            "row")
            .at("predicted")
            .is_number());

  // The same numbers for the same input: the first example of the file, whichever split has it.
  const std::string lines = folder.read("language_model.jsonl"),
                    line = lines.substr(0, lines.find('\n'));
  const std::string printed = folder.ok({"generate", "line"}, line + "\n");
  CHECK(std::ranges::count(printed, ' ') == 5);
  const Json answer = Json::parse(folder.ok({"generate", "line", "--json"}, line + "\n"), "answer");
  CHECK(answer.at("numbers").elements().size() == 6);
  CHECK(folder.heed({"generate", "line"}, "{\"input\": [[1, 2, 3]]}\n").code == 2);
  CHECK_CONTAINS(folder.heed({"generate", "slope"}, "{\"input\": [[1, 2, 3]]}\n").err,
                 "expected vectors of 2 numbers, as in training, found 3");
  CHECK(folder.ok({"generate", "slope"}, "{\"input\": [[1, 0], [0, 1]]}\n").find(' ') ==
        std::string::npos);
  if (has_command("compare")) CHECK_CONTAINS(folder.ok({"compare", "line", "slope"}), "val.r2");
}

TEST_CASE("regression: a run continues bit for bit, and its views say what they cannot show") {
  const Regressions folder;
  folder.write("whole.toml", regression_config("language_model"));
  folder.ok({"train", "whole.toml", "--run", "half", "--set", "train.steps=15"});
  folder.ok({"train", "--resume", "half", "--set", "train.steps=30"});
  CHECK(folder.digest("half/checkpoints/latest/model.safetensors") ==
        folder.digest("line/checkpoints/latest/model.safetensors"));
  if (!has_command("inspect")) return;
  for (const char* view : {"lens", "attribute", "trace"})
    check_rejected(folder.heed({"inspect", "line", view}), 2, {view, "predicts numbers"});
  CHECK_CONTAINS(folder.ok({"inspect", "line", "heads"}), "decoder.layers.0");
  const std::string ablated = folder.ok({"inspect", "line", "ablate"});
  CHECK_CONTAINS(ablated, "The whole model: loss");
  CHECK(ablated.find("nan") == std::string::npos);
  folder.ok({"inspect", "line", "-o", "inside.html"});
  folder.ok({"report", "line", "slope", "-o", "report.html"});
  CHECK_CONTAINS(folder.ok({"export", "line", "--output", "line.onnx"}), "numbers");
  CHECK_CONTAINS(folder.ok({"export", "slope", "--output", "slope.onnx"}), "numbers");
  folder.ok({"attend", "line", "--output", "line.svg"});
  folder.ok({"summary", "line.toml"});
}

TEST_CASE("regression: positions of their own move what is learned for a position") {
  const Workspace folder;
  std::string lines;
  for (int i = 0; i < 80; ++i)
    lines +=
        fmt::format("{{\"input\": [[{}], [{}]], \"positions\": [{}, {}], \"target\": [0, {}]}}\n",
                    i % 7, i % 5, i % 3, 3 + i % 9, i % 9);
  folder.write("classifier.jsonl", lines);
  const std::string learned = "pool = 'none'\n[model.positional]\nkind = 'learned'\nmax_length = ";
  folder.write("small.toml", regression_config("classifier", (learned + "8\n").c_str()));
  check_rejected(folder.heed({"train", "small.toml"}), 2,
                 {"model.positional.max_length = 8 is too small", "12"});
  folder.train("learned", regression_config("classifier", (learned + "12\n").c_str()));
  const auto answer = [&](const char* positions) {
    return folder.ok({"generate", "learned"},
                     fmt::format("{{\"input\": [[1], [1]], \"positions\": {}}}\n", positions));
  };
  CHECK(answer("[0, 3]") != answer("[0, 9]"));
  folder.write(
      "rotary.toml",
      regression_config("classifier", "pool = 'none'\n[model.positional]\nkind = 'rotary'\n"));
  check_rejected(folder.heed({"train", "rotary.toml"}), 2,
                 {"model.positional.kind = \"rotary\" counts positions in a row"});
  folder.write("pooled.toml", regression_config("classifier"));
  check_rejected(folder.heed({"train", "pooled.toml"}), 2,
                 {"line 1", "\"target\"", "with the pool \"none\""});
}
