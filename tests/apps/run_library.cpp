// apps/run/run.h: the library gives what the commands print.
#include <doctest/doctest.h>

#include "apps/run/run.h"
#include "apps/support/json.h"
#include "core/scope.h"
#include "program.h"

using namespace heed;

namespace {

// Trains one run of each kind of model.
struct LibraryRuns : Workspace {
  LibraryRuns() {
    std::string lines;
    for (int i = 0; i < 60; ++i)
      lines +=
          std::string(1 + i % 7, static_cast<char>('a' + i % 5)) + (i % 2 ? "\todd\n" : "\teven\n");
    write("lines.tsv", lines);
    std::string letters;
    for (int i = 0; i < 60; ++i)
      letters += std::string(1 + i / 5, static_cast<char>('a' + i % 5)) + "bc\n";
    write("letters.txt", letters);
    const std::string head = "[train]\nsteps = 4\nbatch_size = 8\n[model]\nlayers = 1\ndim = 16\n";
    train("copy", tiny_config());
    train("sums", head + "kind = 'language_model'\n[data]\nkind = 'addition'\ndigits = 1\n");
    train("lines",
          head + "kind = 'language_model'\n[data]\nkind = 'lines'\npath = 'letters.txt'\n");
    train("labels", head + "kind = 'classifier'\n[data]\nkind = 'labelled'\npath = 'lines.tsv'\n");
  }
};

}  // namespace

TEST_CASE("run library: gives what the commands print") {
  const LibraryRuns folder;
  const Run copy(folder / "copy"), sums(folder / "sums"), labels(folder / "labels", "latest"),
      lines(folder / "lines");
  const auto printed = [&](const std::string& arguments, const std::string& input) {
    return shell_in(folder.path, "printf '" + input + "' | $HEED " + arguments).out;
  };
  const auto as_lines = [](const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts) all += text + "\n";
    return all;
  };
  CHECK(as_lines(copy.predict({"1 2 3", "", "4"}, {.beam = 3})) ==
        printed("generate copy --beam 3", "1 2 3\\n\\n4\\n"));
  std::vector<std::string> many;
  for (int i = 0; i < 50; ++i)
    many.push_back(std::string("0 1 2 3 4").substr(0, static_cast<size_t>(i % 10)));
  const std::vector<std::string> together = copy.predict(many);
  for (size_t i = 0; i < many.size(); ++i)
    CHECK(together[i] == copy.predict(std::span(many).subspan(i, 1))[0]);
  CHECK(as_lines(labels.predict({"ab", "c"})) == printed("generate labels", "ab\\nc\\n"));
  CHECK(as_lines(sums.generate("34")) == printed("generate sums --prompt 34", ""));
  CHECK(sums.generate("34", {.count = 3, .temperature = 1}).size() == 3);
  CHECK_CONTAINS(thrown<InputError>([&] { sums.generate("345"); }),
                 "expected a problem of 2 tokens, found 3");
  CHECK(as_lines(lines.generate("", {.count = 3, .temperature = 0.8, .top_k = 4, .seed = 7})) ==
        printed("generate lines --count 3 --temperature 0.8 --top-k 4 --seed 7", ""));
  for (const std::string& text : lines.generate("ab", {.length = 5, .seed = 7}))  // no prompt
    CHECK("ab" + text + "\n" == printed("generate lines --prompt ab --length 5 --seed 7", ""));
  CHECK(copy.step() == 30);

  const Json scores = Json::parse(printed("evaluate copy --split val --json", ""), "scores");
  CHECK(copy.evaluate("val").at("loss") == scores.at("loss").number());
  CHECK(copy.evaluate("val").at("exact_match") == scores.at("exact_match").number());
  CHECK(scope().gradients);  // the settings of the caller stay
}

TEST_CASE("run library: errors say what is wrong") {
  const TemporaryFolder folder;
  CHECK_CONTAINS(thrown<InputError>([&] { Run(folder / "none"); }), "none: no such run");
  write_file(folder / "r.toml", tiny_config());
  heed_ok(folder.path, {"train", "r.toml", "--run", "r"});
  const Run run(folder / "r");
  CHECK_CONTAINS(thrown<InputError>([&] { run.generate("1"); }), "use predict()");
  CHECK_CONTAINS(thrown<InputError>([&] { (void)run.predict({"1", "x"}); }), "line 2: ");
  std::string long_line = "1";
  for (int i = 0; i < 1 << 15; ++i) long_line += " 1";
  CHECK(thrown<InputError>([&] {
          (void)run.predict({"1", long_line});
        }) == "line 2: expected at most 32768 tokens, found 32769");
  CHECK_CONTAINS(thrown<InputError>([&] { (void)run.evaluate("none"); }), "no split 'none'");
  CHECK_CONTAINS(thrown<InputError>([&] { Run(folder / "r", "7"); }), "no checkpoint '7'");
}
