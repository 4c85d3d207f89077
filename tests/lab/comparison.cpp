// heed compare: what it prints of groups and of single runs.
#include "lab/experiments/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "apps/support/table.h"
#include "lab/experiments/cells.h"
#include "program.h"
#include "scored_runs.h"

using namespace heed;

namespace {

// Two rates, each with seeds from 1 on; the second is better by 1/4 … n/4.
struct TwoRates : ScoredRuns {
  explicit TwoRates(int64_t seeds) {
    for (int64_t seed = 1; seed <= seeds; ++seed) {
      const double loss = 4 + 0.5 * static_cast<double>(seed % 2);
      const std::string name = std::to_string(seed);
      add("s/a/" + name, seed, 1e-3, loss);
      write_file(
          add("s/b/" + name, seed, 2e-3, loss - 0.25 * static_cast<double>(seed)) +
              "/metrics.jsonl",
          fmt::format(R"({{"step": {}, "seconds": {}, "val": {{"loss": 4}}}})", 10 * seed, seed) +
              "\n");
    }
  }
  std::string comparison(const ComparisonOptions& options = {}) const {
    return comparison_of(load(), options);
  }
};

bool has_line(const std::string& text, const std::string& words) {
  std::string squeezed;
  for (const char c : text)
    if (c != ' ' || !squeezed.ends_with(' ')) squeezed += c;
  const bool found = squeezed.find(words + "\n") != squeezed.npos;
  CHECK_MESSAGE(found, "no line '", words, "' in:\n", text);
  return found;
}

}  // namespace

TEST_CASE("compare: a row for each group, and differences from the first") {
  const std::string text = TwoRates(6).comparison({ScoreTarget::parse("val.loss=4")});
  has_line(text,
           "optim.lr n val.loss (Student) best val.exact_match (Student) seconds steps to val.loss "
           "≤ 4 seconds to val.loss ≤ 4");
  has_line(text, "0.001 6 4.25 ± 0.29 4 4.25 ± 0.29 - - -");
  has_line(text, "0.002 6 3.38 ± 0.64 2.5 3.38 ± 0.64 - 35 3.5");
  has_line(text, "best by val.loss: optim.lr = 0.002; no test scores");
  has_line(text, "optim.lr n ratio 95 % interval p");
  has_line(text, "0.002 6 0.7845 0.6712 … 0.917 0.0103");
  has_line(text,
           "val.loss divided by that of optim.lr = 0.001, paired by seed; interval and p: Student "
           "on the logarithms of the ratios");
  has_line(text,
           "0.002 / 0.001: val.loss is 0.78 times as high (0.67 to 0.92; 6 pairs), p = 0.0103");
  CHECK(text.find("too few") == text.npos);
  CHECK(text.find("leans on") == text.npos);
}

TEST_CASE("compare: with few pairs it says what the interval leans on") {
  CHECK_CONTAINS(TwoRates(3).comparison(),
                 "with 3 pairs an interval leans on the assumption that ");
  CHECK(TwoRates(4).comparison().find("leans on") == std::string::npos);
  TwoRates three(6);
  for (int64_t seed = 1; seed <= 6; ++seed) three.add(fmt::format("s/c/{}", seed), seed, 3e-3, 1);
  const std::string text = three.comparison();
  has_line(text, "optim.lr n ratio 95 % interval p p (Holm)");
  has_line(text, "0.003 6 0.2357 0.2203 … 0.2522 3.8e-08 7.6e-08");
  CHECK_CONTAINS(TwoRates(1).comparison(),
                 "too few seeds in 1 comparison: a single pair has no interval\n");
}

TEST_CASE("compare: one group, repeated and unfinished runs") {
  ScoredRuns runs;
  for (int64_t seed = 1; seed <= 3; ++seed) runs.add(std::to_string(seed), seed, 1e-3, 2);
  runs.add("again", 2, 1e-3, 2);
  Experiment experiment;
  experiment.seed = 4;
  experiment.optim.lr = 1e-3;
  runs.add("training", experiment, "");
  const std::string text = comparison_of(runs.load(), {});
  has_line(text, "all runs 3 of 4 2 2 2 -");
  CHECK_CONTAINS(text, "left out: " + runs / "again");
  CHECK(text.find("difference") == text.npos);
}

TEST_CASE("compare: a group without a score has no effect") {
  ScoredRuns runs;
  Experiment experiment;
  for (int64_t seed = 1; seed <= 2; ++seed) {
    runs.add(fmt::format("a/{}", seed), seed, 1e-3, 2);
    experiment.seed = seed;
    experiment.optim.lr = 1e8;
    runs.add(fmt::format("b/{}", seed), experiment, "");  // failed
  }
  const std::string text = comparison_of(runs.load(), {});
  has_line(text, "100000000.0 0 - - -");
  CHECK_CONTAINS(text, "1 of 2 groups has no run with a finite val.loss");
  const std::string json = comparison_of(runs.load(), {.format = TableFormat::json});
  CHECK_CONTAINS(json, "\"low\": null");
}

namespace {

// Adds a run that failed.
void add_failed(ScoredRuns& runs, const std::string& name, int64_t seed, double lr,
                const std::string& error) {
  Experiment experiment;
  experiment.seed = seed;
  experiment.optim.lr = lr;
  write_file(runs.add(name, experiment, "") + "/error.txt", error + "\n");
}

}  // namespace

TEST_CASE("compare: failed runs are counted and named, and means without them are called biased") {
  ScoredRuns runs;
  for (int64_t seed = 1; seed <= 6; ++seed) {
    runs.add(fmt::format("a/{}", seed), seed, 1e-3, 2 + 0.125 * static_cast<double>(seed));
    if (seed > 2)
      runs.add(fmt::format("b/{}", seed), seed, 2e-3, 1);
    else
      add_failed(runs, fmt::format("b/{}", seed), seed, 2e-3, "step 21: the loss is NaN; lower it");
    add_failed(runs, fmt::format("c/{}", seed), seed, 3e-3, "step 3: the loss is infinity");
  }
  const std::string text = comparison_of(runs.load(), {});
  has_line(text, "0.002 4 of 6 (2 failed) 1 1 1 -");
  has_line(text, "0.003 0 of 6 (6 failed) - - - -");
  CHECK_CONTAINS(text,
                 "8 of 18 runs failed and have no scores: a mean leaves out the runs that "
                 "went worst, so it is biased towards the better\n");
  CHECK_CONTAINS(
      text, "failed: " + runs / "b/1" + " and 1 other run: step 21: the loss is NaN; lower it\n");
  CHECK_CONTAINS(text, "failed: " + runs / "c/1" + " and 5 other runs: step 3: ");
  for (const TableFormat format : {TableFormat::text, TableFormat::csv, TableFormat::json}) {
    const std::string shown = comparison_of(runs.load(), {.format = format});
    for (const char* infinite : {"inf,", "-inf", "inf ", "nan,"})
      CHECK_MESSAGE(shown.find(infinite) == shown.npos, shown);
  }
  const std::string csv = comparison_of(runs.load(), {.format = TableFormat::csv});
  CHECK_CONTAINS(csv, "optim.lr,runs,failed,");
  CHECK_CONTAINS(csv, "\n0.002,6,2,4,");
  CHECK_CONTAINS(csv, "\n0.003,6,6,0,");
  const Json json = Json::parse(comparison_of(runs.load(), {.format = TableFormat::json}), "json");
  const Json& group = json.at("groups").elements()[1];
  CHECK(group.at("failed").integer() == 2);
  CHECK(group.at("runs").elements()[0].at("state").string() == "failed");
  CHECK(group.at("runs").elements()[0].at("error").string() ==
        "step 21: the loss is NaN; lower it");
  CHECK(group.at("runs").elements()[2].at("state").string() == "done");
  CHECK(json.at("against_first").elements()[1].at("p").is_null());
}

TEST_CASE("compare: of runs that all failed, one line names the first error") {
  ScoredRuns runs;
  for (int64_t seed = 1; seed <= 2; ++seed)
    add_failed(runs, fmt::format("s/{}", seed), seed, 1e-3, "step 3: the loss is NaN");
  check_rejected(
      heed_in(runs.path, {"compare", "s"}), 2,
      {"all 2 runs failed: nothing to compare; the first is s/1: step 3: the loss is NaN"});
  check_rejected(heed_in(runs.path, {"compare", "s/2"}), 2,
                 {"the run failed: nothing to compare; the first is s/2: "});
  const ProgramOutput listed = succeeded(heed_in(runs.path, {"compare", "s", "--runs"}));
  has_line(listed.out, "s/2 2 failed");
}

TEST_CASE("compare: fractions have intervals inside their limits, and the text names the kind") {
  ScoredRuns runs;
  Experiment experiment;
  const auto add = [&](double lr, int64_t seed, double fraction) {
    experiment.seed = seed;
    experiment.optim.lr = lr;
    runs.add(
        fmt::format("{}-{}", lr, seed), experiment,
        fmt::format(R"({{"val": {{"loss": 1, "exact_match": {}, "examples": 100}}}})", fraction));
  };
  for (const auto& [seed, fraction] : {std::pair(1, 0.0), {2, 0.001}, {3, 0.0}})
    add(1e-3, seed, fraction);
  for (int64_t seed = 1; seed <= 3; ++seed) add(2e-3, seed, 1);
  const ComparisonOptions columns = {.columns = {"val.exact_match"}};
  const auto score_of = [&](size_t group) {
    const std::string text = comparison_of(runs.load(), {.format = TableFormat::json});
    return Json::parse(text, "json")
        .at("groups")
        .elements()[group]
        .at("scores")
        .at("val.exact_match");
  };
  // The seeds of one group differ, so the column has intervals over seeds, and those of the other
  // group say nothing.
  std::string text = comparison_of(runs.load(), columns);
  has_line(text, "optim.lr n val.exact_match (logit)");
  has_line(text, "0.001 3 0.00033 [0.00000, 0.02408]");
  has_line(text, "0.002 3 1");
  has_line(text,
           "logit: mean [95 % interval] over the seeds, by Student on the logit of the mean; none "
           "where the seeds do not differ");
  CHECK(text.find("Wilson") == text.npos);
  CHECK(score_of(0).at("interval").string() == "logit");
  CHECK(score_of(0).at("low").number() > 0);
  CHECK(score_of(1).at("interval").string() == "none");
  CHECK(score_of(1).at("low").is_null());
  // The score that is shown is compared.
  has_line(text,
           "val.exact_match minus that of optim.lr = 0.001, paired by seed; interval and p: "
           "Student on the differences");
  CHECK(text.find("val.loss divided") == text.npos);
  const std::string csv =
      comparison_of(runs.load(), {.format = TableFormat::csv, .columns = columns.columns});
  CHECK_CONTAINS(csv, "val.exact_match low,val.exact_match high,val.exact_match interval,");
  CHECK_CONTAINS(csv, ",logit,");
  CHECK(csv.find("wilson") == csv.npos);

  // No seeds differ: both have intervals over the examples.
  for (int64_t seed = 1; seed <= 3; ++seed) add(1e-3, seed, 0.5);
  text = comparison_of(runs.load(), columns);
  has_line(text, "optim.lr n val.exact_match (Wilson)");
  has_line(text, "0.001 3 0.500 [0.404, 0.596]");
  has_line(text, "0.002 3 1.000 [0.963, 1.000]");
  CHECK(text.find("logit") == text.npos);
  CHECK(score_of(1).at("interval").string() == "wilson");
  CHECK(score_of(1).at("low").number() == doctest::Approx(100 / (100 + 3.841459)));
}

namespace {

// Two kinds of positions at two widths, with eight seeds. The second kind is better by 0.25 at the
// width 32, and by 0.5 at 64, each ± 0.01.
struct TwoFactors : ScoredRuns {
  TwoFactors() {
    Experiment experiment;
    for (experiment.seed = 1; experiment.seed <= 8; ++experiment.seed)
      for (const int64_t width : {32, 64})
        for (const auto* kind :
             {&positional_encodings::sinusoidal, &positional_encodings::rotary}) {
          experiment.model.dim = width;
          experiment.model.positional.kind = kind;
          const bool better = kind == &positional_encodings::rotary;
          const double gain = width == 32 ? 0.25 : 0.5;
          const double noise = 0.01 * static_cast<double>(experiment.seed % 2);
          add(fmt::format("s/{}-{}-{}", width, better, experiment.seed), experiment,
              fmt::format(R"({{"val": {{"loss": 2, "exact_match": {}}}}})",
                          0.25 + (better ? gain + noise : 0)));
        }
  }
};

}  // namespace

TEST_CASE("compare: a baseline compares groups that differ in that key only") {
  const TwoFactors runs;
  const ComparisonOptions options = {.score = "val.exact_match",
                                     .question = {.baseline = "model.positional.kind=sinusoidal"}};
  const std::string text = comparison_of(runs.load(), options);
  has_line(text,
           "model.dim model.positional.kind against model.positional.kind n difference 95 % "
           "interval p p (Holm)");
  has_line(text, "32 rotary sinusoidal 8 +0.255 +0.2505 … +0.2595 3.24e-13 3.24e-13");
  has_line(text, "64 rotary sinusoidal 8 +0.505 +0.5005 … +0.5095 2.71e-15 5.43e-15");
  has_line(
      text,
      "rotary − sinusoidal at model.dim = 64: val.exact_match is higher by 50.5 points (50.1 to "
      "50.9; 8 pairs), p = 2.71e-15 (Holm 5.43e-15)");
  CHECK_CONTAINS(text, "Holm over 2 comparisons");
  CHECK(text.find("key value against") == text.npos);
  ComparisonOptions as_json = options;
  as_json.format = TableFormat::json;
  const Json json = Json::parse(comparison_of(runs.load(), as_json), "json");
  const Json& second = json.at("against_baseline").elements()[1];
  CHECK(second.at("group").integer() == 3);
  CHECK(second.at("against").integer() == 2);
  CHECK(json.at("sentences").elements().size() == 2);
}

TEST_CASE("compare: an interaction is a difference of differences, paired by seed") {
  const TwoFactors runs;
  const std::string text = comparison_of(
      runs.load(), {.score = "val.exact_match",
                    .question = {.interaction = {"model.positional.kind", "model.dim"}}});
  // Within each seed the noise cancels.
  has_line(text, "rotary 64 sinusoidal, 32 8 +0.25 +0.25 … +0.25 -");
  has_line(
      text,
      "(rotary − sinusoidal at model.dim = 64) − (rotary − sinusoidal at model.dim = 32): "
      "val.exact_match is higher by 25.0 points in each of 8 pairs, without any spread: there is "
      "no interval and no p");
}

TEST_CASE("compare: a baseline or an interaction that cannot be computed is one line") {
  const TwoFactors runs;
  const auto rejected = [&](std::vector<std::string> more, const std::string& part) {
    more.insert(more.begin(), {"compare", "s"});
    check_rejected(heed_in(runs.path, more), 2, {part});
  };
  rejected(
      {"--baseline", "model.positional.knd=rotary"},
      "--baseline model.positional.knd=rotary: there is no key \"model.positional.knd\"; did you "
      "mean 'model.positional.kind'?; choose one of model.dim, model.positional.kind");
  rejected({"--baseline", "model.layers=2"},
           "model.layers has one value in these runs (2), so it cannot be compared; choose one of");
  rejected({"--baseline", "model.dim=48"},
           "no run has this value of model.dim; choose one of 32, 64");
  rejected({"--baseline", "model.dim"}, "expected a key and its value, such as");
  rejected({"--interaction", "model.dim"}, "--interaction model.dim: expected two keys, such as");
  rejected({"--interaction", "model.dim,model.dim"}, "expected two different keys");
  rejected({"--interaction", "model.dim,optim.lr"}, "optim.lr has one value in these runs");
  rejected({"--runs", "--baseline", "model.dim=32"}, "leave out --baseline and --interaction");
  rejected({"--columns", "val.loss,val.bleu"}, "--columns val.bleu: no run has such a score");
  check_rejected(heed_in(runs.path, {"report", "s", "--score", "val.bleu"}), 2,
                 {"--score val.bleu: no run has such a score; choose one of"});
}

TEST_CASE("compare: --runs lists every run with its seed, state and scores") {
  const TwoRates runs(2);
  const std::string text = runs.comparison({.by_run = true});
  has_line(text, "run optim.lr seed state steps val.loss val.exact_match");
  has_line(text, runs / "s/b/2" + " 0.002 2 done 10 3.5 3.5");
  CHECK_CONTAINS(runs.comparison({.format = TableFormat::csv, .by_run = true}),
                 "run,optim.lr,seed,state,steps,val.loss,val.exact_match\n" + runs / "s/a/1" +
                     ",0.001,1,done,10,4.5,4.5\n");
  const Json json = Json::parse(
      runs.comparison({.format = TableFormat::json, .columns = {"val.loss"}, .by_run = true}), "");
  CHECK(json.elements()[3].at("seed").integer() == 2);
  CHECK(json.elements()[3].at("state").string() == "done");
  CHECK(json.elements()[3].at("scores").text() == R"({"val.loss":3.5})");
}

TEST_CASE("compare: runs that score other splits are of the same experiment, with more targets") {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", tiny_config());
  for (const char* splits : {"[\"val\"]", "[\"val\", \"test\"]"}) {
    const std::string run = std::string_view(splits) == "[\"val\"]" ? "plain" : "more";
    heed_ok(folder.path, {"train", "c.toml", "--run", run, "--set",
                          fmt::format("train.evaluate_splits={}", splits)});
  }
  const ProgramOutput more =
      heed_in(folder.path, {"compare", "more", "--target", "test.loss=1000", "--csv"});
  CHECK_CONTAINS(more.out, "steps to test.loss ≤ 1000,");
  CHECK_CONTAINS(heed_in(folder.path, {"compare", "plain", "more", "--baseline", "optim.lr=1"}).err,
                 "optim.lr has one value in these runs");
}

TEST_CASE("compare: kinds of examples have the scores that evaluate finds, over the seeds") {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", tiny_config());
  const auto heed = [&](const std::vector<std::string>& arguments) {
    const std::string output = heed_ok(folder.path, arguments);
    return output;
  };
  heed({"sweep", "--config", "c.toml", "--seeds", "2", "--run", "s"});
  const Json compared = Json::parse(heed({"compare", "s", "--by", "length", "--json"}), "json");
  const Json& scores = compared.at("groups").elements().at(0).at("scores");
  std::map<std::string, std::vector<double>> expected;
  for (const char* run : {"s/seed-1", "s/seed-2"}) {
    const Json evaluated = Json::parse(heed({"evaluate", run, "--by", "length", "--json"}), "json");
    expected["test.exact_match"].push_back(evaluated.at("exact_match").number());
    for (const Json& kind : evaluated.at("by").elements())
      expected["test[" + kind.at("kind").string() + "].exact_match"].push_back(
          kind.at("exact_match").number());
  }
  CHECK(scores.members().size() == expected.size());
  CHECK(expected.size() > 2);
  CHECK(compared.at("compared_by").string() == "test.exact_match");  // the first column
  for (const auto& each : expected) {
    const auto& name = each.first;
    const auto& values = each.second;
    CAPTURE(name);
    CHECK(scores.at(name).at("n").integer() == std::ssize(values));
    CHECK(scores.at(name).at("mean").number() == doctest::Approx(student_mean(values).mean));
    CHECK(scores.at(name).at("high").number() <= 1);
  }
  // The same in rows, and as a figure.
  const std::string rows = heed({"compare", "s", "--by", "length", "--csv", "--long"});
  CHECK(rows.starts_with("group,score,kind,n,mean,low,high\n"));
  size_t kinds = 0;
  for (const auto& [name, values] : expected) {
    const size_t open = name.find('[');
    const std::string kind =
        open == name.npos ? "" : name.substr(open + 1, name.find(']') - open - 1);
    const std::string row = fmt::format(",test.exact_match,{},2,", kind);
    const size_t at = rows.find(row);
    CAPTURE(row);
    REQUIRE(at != rows.npos);
    CHECK(std::stod(rows.substr(at + row.size())) ==
          doctest::Approx(scores.at(name).at("mean").number()));
    CHECK(rows.find(fmt::format(",test.loss,{},2,", kind)) != rows.npos);
    kinds += open != name.npos;
  }
  CHECK(rows.find("examples") == rows.npos);
  heed({"report", "s", "--figure", "k.svg", "--by", "length", "--score", "exact_match,loss"});
  const std::string svg = read_file(folder / "k.svg", "figure");
  for (const char* part : {">length</text>", ">Test exact match</text>", ">Test loss</text>",
                           ">Test loss (nats per target)</text>"})
    CHECK_CONTAINS(svg, part);
  const size_t line = svg.find("points=\"", svg.find("<polyline"));
  const std::string points = svg.substr(line, svg.find("\"/>", line) - line);
  CHECK(static_cast<size_t>(std::ranges::count(points, ',')) == kinds);
  heed({"report", "s", "--figure", "p.svg", "--by", "position", "--positions", "0:1"});
  CHECK_CONTAINS(read_file(folder / "p.svg", "figure"), ">position</text>");
  heed({"report", "s", "--figure", "r.svg", "--by", "([12])"});
  check_rejected(heed_in(folder.path, {"report", "s", "--by", "length"}), 2,
                 {"--by is for --figure"});
  check_rejected(heed_in(folder.path, {"report", "s", "--figure", "x.svg", "--split", "val"}), 2,
                 {"--split and --positions are for the page, and for --figure with --by"});
  check_rejected(heed_in(folder.path, {"compare", "s", "--long"}), 2, {"--long goes with --csv"});
  const Json ranged = Json::parse(heed({"compare", "s", "--positions", "0:0", "--json"}), "json");
  std::vector<double> losses;
  for (const char* run : {"s/seed-1", "s/seed-2"})
    losses.push_back(Json::parse(heed({"evaluate", run, "--positions", "0:0", "--json"}), "json")
                         .at("exact_match")
                         .number());
  CHECK(ranged.at("groups")
            .elements()[0]
            .at("scores")
            .at("test[0:0].exact_match")
            .at("mean")
            .number() == doctest::Approx(student_mean(losses).mean));
  check_rejected(heed_in(folder.path, {"compare", "s", "--by", "Q"}), 2,
                 {"--by \"Q\": matches no source; the first is \""});
  check_rejected(heed_in(folder.path, {"compare", "s", "--split", "val"}), 2,
                 {"--split is for --by"});
}

TEST_CASE("compare: kinds of lines without an expected output have losses") {
  const Workspace runs;
  runs.write("names.txt", "ab\nabc\nba\nbca\ncab\nac\ncb\nabc\n");
  runs.train("a",
             "[train]\nsteps = 2\nbatch_size = 2\n[model]\nkind = 'language_model'\nlayers = 1\n"
             "dim = 16\nheads = 2\n[data]\nkind = 'lines'\npath = 'names.txt'\nlevel = 'byte'\n"
             "val_path = 'names.txt'\ntest_fraction = 0\n");
  runs.ok({"train", "a.toml", "--run", "b", "--set", "seed=2"});
  const std::string text = runs.ok({"compare", "a", "b", "--by", "length"});
  has_line(text, "n val.loss (Student) val[2].loss (Student) val[3].loss (Student)");
  CHECK(text.find("exact") == text.npos);
}

TEST_CASE("compare and report leave out damaged runs of several, and say so") {
  TwoRates runs(2);
  Experiment lines;  // whose run.json compare reads, for the data
  lines.model.kind = ModelKind::language_model;
  lines.data.kind = &data_kinds::lines;
  lines.data.path = "lines.txt";
  write_file(runs.add("s/c/1", lines, R"({"val": {"loss": 1}})") + "/run.json", "{");
  write_file(runs / "s/a/1/result.json", "{");
  write_file(runs / "s/b/1/config.toml", "seed = \n");
  for (const std::string command : {"compare", "report"}) {
    const ProgramOutput output = succeeded(heed_in(runs.path, {command, "s"}));
    if (command == "compare") {
      CHECK_CONTAINS(output.err, "left out s/a/1: s/a/1/result.json");
      CHECK_CONTAINS(output.err, "left out s/c/1: s/c/1/run.json");
    }
    CHECK_CONTAINS(output.err, "left out s/b/1: s/b/1/config.toml:1");
  }
  const Json kept =
      Json::parse(succeeded(heed_in(runs.path, {"compare", "s", "--runs", "--json"})).out, "runs");
  REQUIRE(kept.elements().size() == 2);
  CHECK(kept.elements()[0].at("run").string() == "s/a/2");
  // The only run, and a folder that is none, stay errors.
  check_rejected(heed_in(runs.path, {"compare", "s/a/1"}), 2, {"s/a/1/result.json"});
  check_rejected(heed_in(runs.path, {"compare", "s/a/1", "s/b/1"}), 2, {"s/a/1/result.json"});
  check_rejected(heed_in(runs.path, {"compare", "s/a/2", "s/none"}), 2, {"s/none: no such run"});
}

TEST_CASE("compare: numbers stand for names of runs that are too long for the table") {
  ScoredRuns runs;
  const std::string setting = "model.positional.kind=sinusoidal,optim.lr=";
  for (int i = 1; i <= 3; ++i) runs.add(fmt::format("s/{}{}/seed-1", setting, i), 1, 1e-3 * i, 2);
  runs.add("short/a", 1, 1e-3, 2);
  runs.add("short/b", 1, 2e-3, 2);
  const auto longest_line = [](const std::string& text) {
    size_t longest = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
    return longest;
  };
  for (const bool by_run : {false, true}) {
    std::vector<std::string> arguments = {"compare", "s"};
    if (by_run) arguments.emplace_back("--runs");
    const std::string text = succeeded(heed_in(runs.path, arguments)).out;
    CHECK(longest_line(text.substr(0, text.find("1: s/"))) <= 80);
    has_line(text, fmt::format("3: s/{}3/seed-1", setting));
    has_line(text, by_run ? "3 0.003 1 done 10 2 2" : " 1 2 3");
    // What programs read keeps the names.
    for (const char* format : {"--csv", "--json", "--markdown"}) {
      std::vector<std::string> other = arguments;
      other.emplace_back(format);
      CHECK_CONTAINS(succeeded(heed_in(runs.path, other)).out, setting + "3/seed-1");
    }
  }
  has_line(succeeded(heed_in(runs.path, {"compare", "short"})).out, " short/a short/b");
  const std::vector<ScoredRun> loaded = load_runs(find_runs({runs / "short"}));
  has_line(comparison_of(loaded, {.width = 30}), " 1 2");
}

TEST_CASE("compare: columns are the scores that were asked for, in their order") {
  const std::string text =
      TwoRates(6).comparison({.columns = {"val.exact_match", "steps", "val.loss"}});
  has_line(text, "optim.lr n val.exact_match (Student) steps (Student) val.loss (Student)");
  has_line(text, "0.002 6 3.38 ± 0.64 10 3.38 ± 0.64");
}

TEST_CASE("compare: validation chooses, and only of the chosen one test is shown") {
  ScoredRuns runs;
  Experiment experiment;
  for (const double lr : {1e-3, 2e-3})
    for (experiment.seed = 1; experiment.seed <= 2; ++experiment.seed) {
      experiment.optim.lr = lr;
      runs.add(fmt::format("{}-{}", lr, experiment.seed), experiment,
               fmt::format(R"({{"val": {{"loss": {}}}, "test": {{"loss": {}, "targets": 7}}}})",
                           1000 * lr, 10 - 1000 * lr));
    }
  const std::string text = comparison_of(runs.load(), {});
  has_line(text, "best by val.loss: optim.lr = 0.001; test.loss (Student) 9");
  CHECK(text.find("test.targets") == text.npos);
  const std::string by_test = comparison_of(runs.load(), {.score = "test.loss"});
  has_line(by_test, "best by val.loss: optim.lr = 0.001; test.loss (Student) 9");
  CHECK_CONTAINS(by_test, "test.loss divided by that of optim.lr = 0.001");
}

TEST_CASE("compare: CSV, JSON and Markdown have the same numbers") {
  const TwoRates runs(6);
  const std::string csv = runs.comparison({.format = TableFormat::csv});
  CHECK_CONTAINS(
      csv,
      "optim.lr,runs,failed,steps n,steps mean,steps low,steps high,steps interval,steps best,");
  CHECK_CONTAINS(csv, "\n0.002,6,0,6,10,10,10,student,10,6,3.375,");
  const Json json = Json::parse(runs.comparison({.format = TableFormat::json}), "json");
  CHECK(json.at("best").integer() == 1);
  CHECK(json.at("compared_by").string() == "val.loss");
  const Json& group = json.at("groups").elements()[1];
  CHECK(group.at("config").at("optim.lr").string() == "0.002");
  CHECK(group.at("runs").elements()[5].at("seed").integer() == 6);
  CHECK(group.at("scores").at("val.loss").at("mean").number() == 3.375);
  const Json& difference = json.at("against_first").elements()[0];
  CHECK(json.at("compared_as").string() == "ratio");
  CHECK(difference.at("ratio").number() == doctest::Approx(0.784517).epsilon(1e-6));
  CHECK_CONTAINS(csv, ",val.loss seeds,val.loss ratio,val.loss ratio low,val.loss ratio high,");
  CHECK_CONTAINS(csv, ",6,0.7845");
  CHECK(difference.at("p").number() == doctest::Approx(0.0103403));
  const std::string markdown = runs.comparison({.format = TableFormat::markdown});
  CHECK_CONTAINS(markdown, "| optim.lr | n | val.loss (Student) | best |");
  CHECK_CONTAINS(markdown, "\n|---|---:|---:|");
  CHECK_CONTAINS(markdown, "\n| 0.002 | 6 | 3.38 ± 0.64 | 2.5 |");
}

TEST_CASE("compare: rates are compared by differences, and so are losses of which one is 0") {
  TwoRates runs(6);
  const std::string rate = runs.comparison({.score = "val.exact_match"});
  has_line(rate, "optim.lr n difference 95 % interval p");
  has_line(rate, "0.002 6 -0.875 -1.366 … -0.3842 0.00593");
  CHECK_CONTAINS(rate, "val.exact_match minus that of optim.lr = 0.001, paired by seed");
  runs.add("s/a/7", 7, 1e-3, 1);
  runs.add("s/b/7", 7, 2e-3, 0);
  const std::string zero = runs.comparison();
  has_line(zero, "optim.lr n difference 95 % interval p");
  CHECK_CONTAINS(zero, "val.loss is 0 or less in 1 run, so there are no ratios");
  runs.add("s/a/8", 8, 1e-3, 1);
  Experiment experiment;
  experiment.seed = 8;
  experiment.optim.lr = 2e-3;
  runs.add("s/b/8", experiment, R"({"val": {"loss": null}})");
  const std::string infinite = runs.comparison();
  has_line(infinite, "0.002 7 -0.8929 -1.29 … -0.4956 0.00152");
  CHECK_CONTAINS(infinite, "left out of all pairs: 1 run without a finite val.loss");
}

TEST_CASE("compare: two keys are answered first, each over the seeds") {
  ScoredRuns runs;
  Experiment experiment;
  for (experiment.seed = 1; experiment.seed <= 6; ++experiment.seed)
    for (const double lr : {1e-3, 2e-3})
      for (const int64_t layers : {1, 2, 3}) {
        experiment.optim.lr = lr;
        experiment.model.layers = layers;
        runs.add(fmt::format("l{}/r{}/{}", layers, lr, experiment.seed), experiment,
                 fmt::format(R"({{"val": {{"loss": {}}}}})",
                             (lr == 2e-3 ? 2.0 : 1.0) * static_cast<double>(layers) *
                                 static_cast<double>(experiment.seed)));
      }
  const std::string text = comparison_of(runs.load(), {});
  has_line(text, "key value against n ratio 95 % interval p p (Holm)");
  has_line(text, "model.layers 2 1 6 2 2 … 2 - -");  // no spread
  has_line(text, "model.layers 3 1 6 3 3 … 3 - -");
  has_line(text, "optim.lr 0.002 0.001 6 2 2 … 2 - -");
  const Json json = Json::parse(comparison_of(runs.load(), {.format = TableFormat::json}), "json");
  REQUIRE(json.at("by_key").elements().size() == 3);
  const Json& rate = json.at("by_key").elements()[2];
  CHECK(rate.at("config").at("optim.lr").string() == "0.002");
  CHECK(rate.at("against").at("optim.lr").string() == "0.001");
  CHECK(rate.at("seeds").integer() == 6);
  CHECK(rate.at("ratio").number() == doctest::Approx(2));
  CHECK(rate.at("p").is_null());
  CHECK(rate.at("sign_flip_p").number() == 2. / 64);
  CHECK(rate.at("verdict").string() == "alike");
  CHECK_CONTAINS(rate.at("text").string(), "val.loss is 2 times as high in each of 6 pairs");
  const std::string csv = comparison_of(runs.load(), {.format = TableFormat::csv});
  CHECK_CONTAINS(csv, "\n,0.002,,");  // after the rows of groups
}

TEST_CASE("compare: a median of steps beyond the training is more than its steps, or never") {
  const auto cell = [](double steps, int64_t reached) {
    return target_cells(Reached{.steps = steps,
                                .seconds = steps,
                                .last_step = 1000,
                                .last_seconds = 2.5,
                                .runs = 6,
                                .reached = reached});
  };
  using Cells = std::vector<std::string>;
  CHECK(cell(50, 4) == Cells{"50", "50"});
  CHECK(cell(INFINITY, 2) == Cells{"more than 1000", "more than 2.5"});
  CHECK(cell(INFINITY, 0) == Cells{"never", "never"});
  CHECK(target_cells(std::nullopt) == Cells{"-", "-"});
}

TEST_CASE("compare: single runs keep a column each, with their time to a target") {
  const TwoRates runs(1);
  const std::string text = runs.comparison({ScoreTarget::parse("val.loss=4")});
  has_line(text, " " + runs / "s/a/1" + " " + runs / "s/b/1");
  has_line(text, "optim.lr 0.001 0.002");
  has_line(text, "steps to val.loss ≤ 4 - 10");
  CHECK_CONTAINS(text, "too few seeds in 1 comparison");
  const Json json = Json::parse(
      runs.comparison({ScoreTarget::parse("val.loss=1"), "", TableFormat::json}), "json");
  CHECK(json.elements()[1].at("target").at("steps").is_null());  // never
}

TEST_CASE("compare: single runs without a seed in common are listed, not compared") {
  ScoredRuns runs;
  runs.add("a", 1, 1e-3, 2);
  runs.add("b", 2, 2e-3, 1);
  const std::string text = comparison_of(runs.load(), {});
  has_line(text, "optim.lr 0.001 0.002");
  CHECK(text.find("seeds") == text.npos);
}

TEST_CASE("compare: rejects unknown scores and targets") {
  const TwoRates runs(2);
  const auto rejected = [&](std::vector<std::string> arguments, const std::string& part) {
    arguments.insert(arguments.begin(), {"compare", "s"});
    check_rejected(heed_in(runs.path, arguments), 2, {part});
  };
  rejected({"--score", "val.bleu"}, "no run has such a score; choose one of steps, val.loss");
  rejected({"--target", "val.bleu=3"}, "no metrics.jsonl of these runs has val.bleu");
  rejected({"--target", "val.loss"}, "expected a score and a value");
  rejected({"--json", "--markdown"}, "choose one");
  const ProgramOutput output = succeeded(heed_in(runs.path, {"compare", "s/a", "s/b/1", "s/b/2"}));
  has_line(output.out, "0.002 2 3.9 ± 4.8 3.5 3.9 ± 4.8 -");
}

TEST_CASE("compare: a mean has the decimals of its half width") {
  CHECK(mean_text({6, 1.23456, 0.01234}) == "1.235 ± 0.012");
  CHECK(mean_text({6, 1234.56, 123.4}) == "1235 ± 123");
  CHECK(mean_text({6, 1.23456, 0}) == "1.2346");
  CHECK(mean_text(student_mean(std::vector<double>{1.23456})) == "1.2346");
  CHECK(mean_text({6, 12.3, 9.96}) == "12.3 ± 10.0");
}

TEST_CASE("table: cells are escaped in each format") {
  const Table table{{{"", "a|b"}, {"é", "<i>\x1b"}}, {"note\x1b"}};
  CHECK(table.text() == "       a|b\né  <i>\\x1b\nnote\\x1b\n");
  CHECK(table.markdown() == "|  | a\\|b |\n|---|---:|\n| é | &lt;i>\\x1b |\n\nnote\\x1b\n");
  CHECK(Table{{{"a_b", "c & d"}, {"1 ± 2", "50 %"}}, {"note"}}.latex() ==
        "\\begin{tabular}{lr}\n\\toprule\na\\_b & c \\& d \\\\\n\\midrule\n"
        "1 $\\pm$ 2 & 50 \\% \\\\\n\\bottomrule\n\\end{tabular}\n% note\n");
  CHECK(Table{{{"a,b", "c\"d"}}, {}}.csv() == "\"a,b\",\"c\"\"d\"\n");
}
