// heed report: curves, charts, escaping, and runs with missing or damaged parts.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <span>
#include <sstream>

#include "apps/support/digest.h"
#include "lab/experiments/curves.h"
#include "lab/report/charts.h"
#include "lab/report/page.h"
#include "lab/report/report_data.h"
#include "lab/report/run_page.h"
#include "lab/report/watched_folder.h"
#include "page_data.h"
#include "program.h"

using namespace heed;

namespace {

// A run as far as a report of its files goes.
struct WrittenRun {
  TemporaryFolder folder;
  std::string path = folder / "run";

  explicit WrittenRun(const std::string& config = "[train]\nsteps = 20\n") {
    write_run(path, config);
  }
  void write(const std::string& name, const std::string& text) const {
    write_file(path + "/" + name, text);
  }
  Report report() const { return report_data({{path}, false, false}); }
  std::string page() const { return report_file(report()); }
  Json data() const { return data_of(page()); }
};

bool has_note(const Report& report, const std::string& part) {
  return std::ranges::any_of(report.runs.at(0).notes,
                             [&](const auto& note) { return note.find(part) != note.npos; });
}

constexpr const char* two_rows =
    "{\"step\":10,\"loss\":2.5,\"lr\":0.001}\n"
    "{\"step\":20,\"loss\":1.5,\"lr\":0.0005}\n{\"step\":20,\"val\":{\"loss\":1.75,\"examples\":7}}"
    "\n";

}  // namespace

TEST_CASE("curves are the numbers of metrics.jsonl by the paths of their members") {
  const Curves read = curves_of(two_rows);
  REQUIRE(read.curves.size() == 4);
  CHECK(read.find("loss")->steps == std::vector<double>{10, 20});
  CHECK(read.find("loss")->values == std::vector<double>{2.5, 1.5});
  CHECK(read.find("val.loss")->values == std::vector<double>{1.75});
  CHECK(read.find("nothing") == nullptr);

  SUBCASE("each head has its own") {
    const Curves other = curves_of("{\"step\":1,\"heads\":{\"a\":{\"entropy\":[0.5,0.25]}}}\n");
    CHECK(other.find("heads.a[1].entropy")->values == std::vector<double>{0.25});
  }

  SUBCASE("a row that is being written is left out, a damaged one counted") {
    const Curves other = curves_of(
        "{\"step\":1,\"loss\":1}\n{\"ste\n[]\n{\"step\":3,\"loss\":null}\n"
        "{\"step\":4,\"loss\":2");
    CHECK(other.damaged_rows == 2);
    CHECK(other.find("loss")->values == std::vector<double>{1});
  }
}

TEST_CASE("a chart says what its axis must know of its curve") {
  const auto chart = [](const char* name) { return chart_json({"", name, {}}); };
  CHECK(chart("lr").at("from_zero").flag());
  CHECK_FALSE(chart("loss").at("from_zero").flag());
  CHECK_FALSE(chart("loss").at("fraction").flag());
  CHECK(chart("val.exact_match").at("fraction").flag());
  CHECK_FALSE(chart("loss").at("ratio").flag());
  Chart means{"Loss", "loss", {{"a", 0, {"", {1, 2}, {2, 1}}, {1, 0.5}, {3, 2}}}, true};
  means.lines[0].seeds = {{"", {1, 2}, {2.5, 1.5}}, {"", {1, 2}, {1.5, 0.5}}};
  const Json json = chart_json(means);
  CHECK(json.at("ratio").flag());
  const Json& line = json.at("lines").elements()[0];
  CHECK(line.at("high").text() == "[3.0,2.0]");
  CHECK(line.at("seeds").elements()[1].at("y").text() == "[1.5,0.5]");
}

TEST_CASE("a report has the scores, the curves and what differs from the defaults") {
  const WrittenRun run("seed = 5\n[train]\nsteps = 20\n");
  run.write("metrics.jsonl", two_rows);
  run.write("result.json",
            "{\"steps\": 20, \"best_step\": 20, \"test\": {\"loss\": 1.25, \"exact_match\": 0.5}}");
  const std::string page = run.page();
  const Json data = data_of(page);
  CHECK(data.at("run").at("scores").text() ==
        R"([{"split":"test","examples":null,"interval":null,"scores":[)"
        R"({"name":"loss","value":1.25,"fraction":false},)"
        R"({"name":"exact_match","value":0.5,"fraction":true}]}])");
  CHECK_CONTAINS(data.at("run").at("changed").text(), R"(["seed","5","1",""])");
  CHECK_CONTAINS(data.at("curves").text(), R"("y":[2.5,1.5])");
  // Without scripts there are its state and its scores.
  for (const char* part : {"<td>test</td><td>loss 1.250, exact_match 0.5000</td>", "done, reverse",
                           "default-src 'none'"})
    CHECK_CONTAINS(page, part);
  CHECK(page.find("http-equiv") < page.find("<script"));
  CHECK(page.size() < 500'000);
}

TEST_CASE("the loss of training comes before that of validation, even if it was measured later") {
  const WrittenRun run;
  run.write("metrics.jsonl", "{\"step\":5,\"val\":{\"loss\":1.75}}\n{\"step\":10,\"loss\":1.5}\n");
  const Json data = run.data();
  const auto& lines = data.at("curves").elements()[0].at("lines").elements();
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].at("label").string() == "Training loss");
  CHECK(lines[1].at("label").string() == "Validation loss");
}

TEST_CASE("nothing in a run becomes HTML") {
  const std::string hostile = "</script><img src=x onerror=alert(1)>{main}";
  const WrittenRun run("[train]\nload = \"" + hostile + "\"\n");
  run.write("metrics.jsonl", "{\"step\":1,\"" + hostile + "\":1}\n");
  run.write("result.json", "{\"" + hostile + "\": {\"" + hostile + "\": 1}}");
  const std::string page = run.page();
  CHECK_CONTAINS(page, "&lt;/script&gt;&lt;img");
  CHECK_CONTAINS(page, "\\u003c/script>");
  CHECK(page.find("<img") == page.npos);
  // The browser runs no script but the page's own, and loads nothing.
  CHECK_CONTAINS(page,
                 "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
                 "script-src 'sha256-");
}

TEST_CASE("a report leaves out what a run lacks, and says so") {
  const WrittenRun run;
  CHECK(has_note(run.report(), "no curves"));
  CHECK(has_note(run.report(), "has not ended"));
  CHECK_CONTAINS(run.data().at("run").at("notes").text(), "has not ended");

  run.write("error.txt", "step 3: the loss is NaN\nmore\n");
  CHECK(has_note(run.report(), "The run failed: step 3: the loss is NaN"));
  CHECK_FALSE(has_note(run.report(), "has not ended"));
  remove_all(run.path + "/error.txt");

  run.write("metrics.jsonl", "nonsense\n");
  run.write("result.json", "[1, 2");
  CHECK(has_note(run.report(), "1 row of metrics.jsonl cannot be read"));
  CHECK(has_note(run.report(), "result.json:1"));

  run.write("result.json", "[1, 2]");
  CHECK(has_note(run.report(), "expected an object of scores"));
}

TEST_CASE("heed report refuses folders that are no runs, and leaves the file alone") {
  const WrittenRun run;
  const std::string folder = run.folder.path;
  write_file(folder + "/report.html", "old");
  check_rejected(heed_in(folder, {"report", "missing"}), 2, {"missing", "no such run"});
  write_file(run.path + "/config.toml", "newer = 1\n");
  check_rejected(heed_in(folder, {"report", "run"}), 2, {"config.toml:1", "newer"});
  check_rejected(heed_in(folder, {"report", "run", "-o", "no/where.html"}), 2, {"no/where.html"});
  CHECK(read_file(folder + "/report.html", "text") == "old");
}

TEST_CASE("heed report writes several runs on the same axes") {
  const WrittenRun first("seed = 1\n"), second("seed = 2\n");
  first.write("metrics.jsonl", two_rows);
  second.write("metrics.jsonl", two_rows);
  const ProgramOutput output =
      succeeded(heed_in(first.folder.path, {"report", first.path, second.path, "-o", "both.html"}));
  CHECK(output.out == "both.html\n");
  const std::string page = read_file(first.folder / "both.html", "page");
  const Json data = data_of(page);
  CHECK(data.at("title").string() == "2 runs");
  CHECK(data.at("curves").elements()[0].at("lines").elements()[0].at("label").string() == "mean");
  const Json& run = data.at("runs").elements()[0];
  CHECK(run.at("name").string() == first.path);
  CHECK_CONTAINS(run.at("notes").text(), "There are no scores");
  CHECK_CONTAINS(page, " report " + first.path + " " + second.path + " -o both.html</code>");
}

TEST_CASE("a report of a sweep has means over seeds, bands, the effect of each key and all runs") {
  const TemporaryFolder folder;
  for (const double lr : {0.01, 0.002})
    for (const int width : {8, 16})
      for (int seed = 1; seed <= 3; ++seed) {
        const std::string path = fmt::format("{}/sweep/{}-{}/{}", folder.path, lr, width, seed);
        write_run(path,
                  fmt::format("seed = {}\n[model]\ndim = {}\n[optim]\nlr = {}\n", seed, width, lr));
        const double loss = lr * 100 + seed * 0.125;
        write_file(path + "/result.json", fmt::format("{{\"val\": {{\"loss\": {}}}}}", loss));
        write_file(path + "/metrics.jsonl",
                   fmt::format("{{\"step\":10,\"loss\":{}}}\n{{\"step\":{},\"loss\":1}}\n", loss,
                               10 + seed));
      }
  const Report report = report_data({{folder / "sweep"}});
  const SeedGroups& groups = report.sweep->groups;
  CHECK(groups.varying == std::vector<std::string>{"model.dim", "optim.lr"});
  CHECK(groups.groups.size() == 4);
  CHECK(report.sweep->names == std::vector<std::string>{"val.loss"});

  // Step 10 alone is a step of all three seeds. Student of the logarithm: t(0.975, 2) = 4.302653.
  const Json& line = report.charts.at(0).at("lines").elements()[0];
  CHECK(line.at("x").text() == "[10.0]");
  const auto values = std::vector<double>{1.125, 1.25, 1.375};  // of lr 0.01
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  const double middle = (logs[0] + logs[1] + logs[2]) / 3;
  double squares = 0;
  for (const double log : logs) squares += (log - middle) * (log - middle);
  const double half = 4.302653 * std::sqrt(squares / 2 / 3);
  const auto number = [](const Json& list) { return list.elements()[0].number(); };
  const auto line_of_lr = std::ranges::find_if(
      report.charts.at(0).at("lines").elements(),
      [](const Json& each) { return each.at("label").string() == "dim=8, lr=0.01"; });
  CHECK(number(line_of_lr->at("y")) == doctest::Approx(std::exp(middle)).epsilon(1e-4));
  CHECK(number(line_of_lr->at("high")) == doctest::Approx(std::exp(middle + half)).epsilon(1e-4));
  CHECK(number(line_of_lr->at("low")) == doctest::Approx(std::exp(middle - half)).epsilon(1e-4));
  CHECK(line_of_lr->at("seeds").elements().size() == 3);
  CHECK(report.charts.at(0).at("ratio").flag());

  const std::string page = report_file(report);
  const Json data = data_of(page);
  CHECK(data.at("keys").text() == R"([{"key":"model.dim","name":"dim","values":["8","16"]},)"
                                  R"({"key":"optim.lr","name":"lr","values":["0.002","0.01"]}])");
  const Json& differences = data.at("differences");
  CHECK(differences.at("shown").flag());
  const auto& tables = differences.at("tables").elements();
  REQUIRE(tables.size() == 3);
  const auto row = [&](size_t table, const char* keys) {
    for (const Json& each : tables[table].at("rows").elements())
      if (each.at("keys").text() == keys) return each;
    return Json();
  };
  const Json rate = row(0, R"(["lr"])"), width = row(0, R"(["dim"])");
  CHECK(rate.at("verdict").string() == "difference");
  CHECK(rate.at("instead").text() == R"(["0.002"])");
  CHECK(rate.at("pairs").integer() == 3);
  CHECK(width.at("verdict").string() == "alike");
  CHECK_CONTAINS(width.at("text").string(), "val.loss is the same in each of 3 pairs");
  CHECK(width.at("high").number() == 1);
  // The two keys do not change each other's effect.
  CHECK(tables[1].at("of").string() == "interaction");
  const Json& two = tables[1].at("rows").elements()[0];
  CHECK(two.at("keys").text() == R"(["dim","lr"])");
  CHECK(two.at("values").text() == R"(["16","0.01"])");
  CHECK(two.at("instead").text() == R"(["8","0.002"])");
  CHECK(two.at("size").number() == 1);
  CHECK(tables[2].at("first").string() == "dim=8, lr=0.002");
  CHECK_CONTAINS(data.at("warnings").text(), "with 3 pairs an interval leans on the assumption");
  CHECK_CONTAINS(page, "<td>dim=8, lr=0.002</td><td>val.loss 0.");  // without scripts
  CHECK(page.substr(0, page.find("<script>")).find("nan") == page.npos);
}

TEST_CASE("a report of a sweep asks its question, and shows when each seed reached a target") {
  const TemporaryFolder folder;
  const std::string sweep = folder / "sweep";
  int64_t last = 0;
  for (const int width : {8, 16})
    for (const double lr : {0.01, 0.002})
      for (int seed = 1; seed <= 3; ++seed) {
        const std::string path = fmt::format("{}/{}-{}/{}", sweep, width, lr, seed);
        write_run(path,
                  fmt::format("seed = {}\n[model]\ndim = {}\n[optim]\nlr = {}\n", seed, width, lr));
        std::string rows;
        for (int step = 10; step <= 40; step += 10)  // lr 0.002 reaches 0.5 at 10, 20 and never
          rows +=
              fmt::format("{{\"step\":{},\"seconds\":{},\"val\":{{\"loss\":{}}}}}\n", step, step,
                          lr < 0.01 && step >= (seed == 3 ? 100 : 10 * seed) ? 0.25 : 1.0);
        write_file(path + "/metrics.jsonl", rows);
        ++last;
        if (last == 12)  // it trains: nobody knows whether it will
          continue;
        write_file(path + "/result.json", R"({"val": {"loss": 0.5}})");
      }
  write_file(folder / "base.toml", "seed = 1\n");
  write_file(sweep + "/sweep.toml", "config = \"../base.toml\"\nquestion = \"<b>Which?\"\n");
  const ReportRequest request{.paths = {sweep}, .target = ScoreTarget{"val.loss", 0.5}};
  const Report report = report_data(request);
  const Json data = data_of(report_file(report));
  CHECK(data.at("plan").at("question").string() == "<b>Which?");
  CHECK(data.at("runs").elements()[0].at("name").string().starts_with(
      data.at("plan").at("folder").string() + "/"));
  const Json& target = data.at("target");
  CHECK(target.at("left_out").integer() == 1);
  CHECK(target.at("last").number() == 40);
  const auto& drawn = target.at("groups").elements();
  const auto& named = data.at("groups").elements();
  REQUIRE(drawn.size() == named.size());
  for (size_t i = 0; i < drawn.size(); ++i) {
    const std::string name = named[i].at("name").string();
    CAPTURE(name);
    const bool fast = name.ends_with("lr=0.002"), shorter = name == "dim=16, lr=0.002";
    CHECK(drawn[i].at("reached").integer() == (fast ? 2 : 0));
    CHECK(drawn[i].at("of").integer() == (shorter ? 2 : 3));
    const Json &median = drawn[i].at("median"), &seconds = drawn[i].at("seconds");
    REQUIRE(median.is_null() == !fast);
    REQUIRE(seconds.is_null() == !fast);
    if (fast) CHECK(median.number() == (shorter ? 15 : 20));
    if (fast) CHECK(seconds.number() == (shorter ? 15 : 20));
    CHECK(drawn[i].at("last_step").number() == 40);
    const auto& steps = drawn[i].at("steps").elements();
    CHECK(steps.size() == (shorter ? 2 : 3));
    CHECK(steps[0].at("seed").integer() == 1);
    if (fast) CHECK(steps[0].at("step").number() == 10);
    if (!fast) CHECK(steps[0].at("step").is_null());
    if (fast && !shorter) CHECK(steps[2].at("step").is_null());  // seed 3
  }
  // The runs alone, as `heed view` names them, have the question, too.
  ReportRequest of_runs;
  for (const ReportedRun& run : report.runs) of_runs.paths.push_back(run.name());
  CHECK(report_data(of_runs).plan->options.question == "<b>Which?");
  const WrittenRun other;
  of_runs.paths.push_back(other.path);
  CHECK_FALSE(report_data(of_runs).plan.has_value());

  ReportRequest none = request;
  none.target = ScoreTarget{"val.bleu", 1};
  CHECK_CONTAINS(thrown<InputError>([&] { report_data(none); }),
                 "--target: no metrics.jsonl of these runs has val.bleu");
  check_rejected(heed_in(folder.path, {"report", report.runs[0].name(), "--target", "loss=1"}), 2,
                 {"--target are for the page of several runs"});
}

TEST_CASE("where seeds are too few to tell, a report has the command that adds enough") {
  const Workspace folder;
  write_file(folder / "tiny.toml", tiny_config());
  // Returns the command that adds seeds, and checks what the page says of it.
  const auto command = [&](const std::string& path, const char* verdict, int64_t seeds,
                           int64_t runs) {
    folder.ok({"report", path, "-o", "page.html"});
    const Json data = data_of(folder.read("page.html")), more = data.at("more");
    CHECK_CONTAINS(data.at("differences").text(), verdict);
    CHECK(more.at("seeds").integer() == seeds);
    CHECK(more.at("runs").integer() == runs);
    return more.at("command").string();
  };
  const auto run = [&](const std::string& text) {
    succeeded(shell_in(folder.path, "heed() { \"$HEED\" \"$@\"; }\n" + text));
  };
  const std::vector<std::string> short_runs = {
      "--set", "train.steps=2", "--set", "data.val_size=4", "--set", "data.test_size=4"};

  SUBCASE("of a sweep, whose name a shell would read as two words") {
    std::vector<std::string> arguments = {
        "sweep", "--config", "tiny.toml",  "--axis", "optim.lr=1e-3,1e-4", "--seeds", "2-3",
        "--run", "a b",      "--max-runs", "5"};
    arguments.insert(arguments.end(), short_runs.begin(), short_runs.end());
    folder.ok(arguments);
    const std::string text = command("a b", R"("verdict":"open")", 2, 4);
    CHECK(text.ends_with(" sweep 'a b' --seeds 2-5 --max-runs 8"));
    const std::string sweep = folder.read("a b/sweep.toml");
    folder.replace("a b/sweep.toml", "seeds = [2, 3]", "seeds = [2, 3, 4, 5]");
    folder.replace("a b/sweep.toml", "max_runs = 5", "max_runs = 8");
    folder.ok({"report", "a b", "-o", "page.html"});  // these are yet to train
    CHECK(data_of(folder.read("page.html")).at("more").is_null());
    write_file(folder / "a b/sweep.toml", sweep);
    run(text);
    const Report report = report_data({{folder / "a b"}});
    CHECK(report.runs.size() == 8);
    CHECK(report.sweep->effects.groups[0].seeds == std::vector<int64_t>{2, 3, 4, 5});
    const Json data = data_of(report_file(report));
    CHECK(data.at("planned").integer() == 8);
    CHECK(std::ranges::count(data.at("runs").elements(), "done",
                             [](const Json& each) { return each.at("state").string(); }) == 8);
  }

  SUBCASE("of runs that are no sweep") {
    for (const char* rate : {"1e-3", "1e-4"}) {
      std::vector<std::string> arguments = {"train", "tiny.toml",
                                            "--run", fmt::format("r/{} x", rate),
                                            "--set", fmt::format("optim.lr={}", rate)};
      arguments.insert(arguments.end(), short_runs.begin(), short_runs.end());
      folder.ok(arguments);
    }
    // A second seed of one of them, which still trains, counts.
    folder.ok({"train", "r/1e-3 x/config.toml", "--set", "seed=2", "--run", "r/two"});
    std::filesystem::remove(folder / "r/two/result.json");
    command("r", R"("verdict":"few")", 1, 2);
    std::filesystem::remove_all(folder / "r/two");
    run(command("r", R"("verdict":"few")", 2, 4));
    const Report report = report_data({{folder / "r"}});
    CHECK(report.runs.size() == 6);
    CHECK(report.sweep->effects.groups[0].seeds.size() == 3);
  }
}

TEST_CASE("a report says how long its runs still train") {
  const WrittenRun run("[train]\nsteps = 1000\n");
  run.write("metrics.jsonl", "{\"step\":100,\"loss\":2,\"seconds\":4}\n");
  Report report = run.report();
  CHECK_FALSE(seconds_left(report.runs[0]).has_value());
  report.runs[0].state = RunState::running;
  CHECK(*seconds_left(report.runs[0]) == doctest::Approx(36));
  CHECK(data_of(report_file(report)).at("run").at("left").number() == doctest::Approx(36));

  // Of a sweep: what runs, and what has not begun, with as many at a time as now.
  const TemporaryFolder folder;
  write_file(folder / "base.toml", "[train]\nsteps = 1000\n");
  make_folders(folder / "sweep/1");
  make_folders(folder / "sweep/2");
  const auto write_sweep = [&](const char* method) {
    write_file(folder / "sweep/sweep.toml",
               fmt::format("config = \"../base.toml\"\nseeds = [1, 2, 3, 4]\n{}", method));
  };
  write_sweep("");
  for (const int seed : {1, 2}) {
    const std::string path = fmt::format("{}/sweep/{}", folder.path, seed);
    write_run(path, fmt::format("seed = {}\n[train]\nsteps = 1000\n", seed));
    write_file(path + "/metrics.jsonl",
               fmt::format("{{\"step\":{},\"loss\":2,\"seconds\":40}}\n", seed == 1 ? 1000 : 500));
  }
  write_file(folder / "sweep/1/result.json", R"({"seconds": 40, "val": {"loss": 2}})");
  Report sweep = report_data({{folder / "sweep"}});
  CHECK(planned_runs(sweep) == 4);
  CHECK_FALSE(seconds_left(sweep).has_value());
  sweep.runs[1].state = RunState::running;
  CHECK(*seconds_left(sweep) == doctest::Approx(40 + 2 * (40 + 80) / 2.0));
  const Json data = data_of(report_file(sweep));
  CHECK(data.at("planned").integer() == 4);
  CHECK(data.at("left").number() == doctest::Approx(160));
  const Json& running = data.at("runs").elements()[1];
  CHECK(running.at("state").string() == "running");
  CHECK(running.at("seconds").number() == 40);
  CHECK(running.at("left").number() == doctest::Approx(40));
  CHECK(data.at("plan").at("command").string().ends_with(" sweep " + folder / "sweep"));
  // Halving stops runs: nobody knows which.
  write_sweep("method = \"halving\"\n[halving]\nrungs = [10]\nmetric = \"val.loss\"\n");
  sweep = report_data({{folder / "sweep"}});
  sweep.runs[1].state = RunState::running;
  CHECK_FALSE(seconds_left(sweep).has_value());
}

TEST_CASE("a report of 72 runs with 1,000 rows each has less than 2 MB") {
  const TemporaryFolder folder;
  for (int run = 0; run < 72; ++run) {
    const std::string path = fmt::format("{}/s/{:02}", folder.path, run);
    write_run(path, fmt::format("seed = {}\n[model]\nheads = {}\n[optim]\nlr = 0.00{}\n",
                                run % 6 + 1, 1 << run / 6 % 4, run / 24 + 1));
    write_file(path + "/result.json", fmt::format(R"({{"val": {{"loss": 0.{}}}}})", run + 10));
    std::string rows;
    for (int step = 1; step <= 1000; ++step)
      rows += fmt::format(
          R"({{"step":{},"loss":{:.4f},"lr":0.00{},"gradient_norm":{:.4f},"tokens_per_s":{},)"
          R"("val":{{"loss":{:.4f},"exact_match":{:.4f}}}}})"
          "\n",
          step, 3.0 / step + 0.01 * run, run / 24 + 1, 1 + (step * 37 + run) % 101 / 50.0,
          100000 + (step * 7919 + run) % 5000, 3.1 / step + 0.01 * run, 1 - 1.0 / (step + run));
    write_file(path + "/metrics.jsonl", rows);
  }
  const Report report = report_data({{folder / "s"}});
  CHECK(report.runs.size() == 72);
  CHECK(report.sweep->groups.groups.size() == 12);
  CHECK(report_file(report).size() < 2'000'000);
  for (const Json& chart : report.charts)  // bands are thinned with their lines
    for (const Json& line : chart.at("lines").elements()) {
      const std::string name = chart.at("name").string();
      const bool has_band = name != "lr" && name != "tokens_per_s";
      REQUIRE((line.find("low") != nullptr) == has_band);
      if (!has_band) continue;
      const auto &low = line.at("low").elements(), &y = line.at("y").elements(),
                 &high = line.at("high").elements();
      REQUIRE(low.size() == y.size());
      REQUIRE(high.size() == y.size());
      for (size_t i = 0; i < y.size(); ++i) CHECK(low[i].number() <= y[i].number() * (1 + 1e-5));
    }
}

TEST_CASE("a report counts and names failed runs, and lists single runs on request") {
  const TemporaryFolder folder;
  for (int seed = 1; seed <= 3; ++seed) {
    const std::string path = fmt::format("{}/s/{}", folder.path, seed);
    write_run(path, fmt::format("seed = {}\n", seed));
    write_file(path + "/metrics.jsonl", fmt::format("{{\"step\":10,\"loss\":{}}}\n", seed));
    if (seed == 3)
      write_file(path + "/error.txt", "step 3: the loss is NaN; lower optim.lr\n");
    else
      write_file(path + "/result.json",
                 R"({"val": {"loss": 0.5, "exact_match": 0.75, "examples": 100}})");
  }
  const Json data = data_of(report_file(report_data({{folder / "s"}})));
  CHECK(data.at("groups").elements()[0].at("count").string() == "2 of 3 (1 failed)");
  CHECK_CONTAINS(data.at("failures").text(), "1 of 3 runs failed and has no scores: a mean leaves");
  CHECK_CONTAINS(data.at("failures").text(),
                 "failed: " + folder / "s/3" + ": step 3: the loss is NaN; lower optim.lr");
  CHECK(data.at("runs").elements()[2].at("notes").strings().at(0) ==
        "The run failed: step 3: the loss is NaN; lower optim.lr");
  const auto by_exact_match = [&] {
    return data_of(report_file(report_data({.paths = {folder / "s"}, .score = "val.exact_match"})));
  };
  const Json exact = by_exact_match();
  const Json& group = exact.at("groups").elements()[0];
  CHECK(group.at("mean").number() == 0.75);
  CHECK(group.at("low").number() == doctest::Approx(0.657).epsilon(1e-3));
  CHECK(group.at("high").number() == doctest::Approx(0.825).epsilon(1e-3));
  CHECK(exact.at("interval").string() == "95 % interval (Wilson)");
  const Report listed = report_data({.paths = {folder / "s"}, .by_run = true});
  const Json table = data_of(report_file(listed)).at("table");
  CHECK(table.elements()[0].strings().at(0) == "run");
  CHECK(table.elements()[3].strings().at(0) == folder / "s/3");
  CHECK(table.elements()[3].strings().at(2) == "failed");
  CHECK(listed.charts.at(0).at("lines").elements().size() == 3);  // a curve for each run
  // A second group whose seeds differ: the column has intervals over seeds, none of the first.
  for (int seed = 4; seed <= 5; ++seed) {
    const std::string path = fmt::format("{}/s/{}", folder.path, seed);
    write_run(path, fmt::format("seed = {}\n[model]\nlayers = 3\n", seed));
    write_file(
        path + "/result.json",
        fmt::format(R"({{"val": {{"loss": 1, "exact_match": 0.{}, "examples": 100}}}})", seed));
  }
  const Json both = by_exact_match();
  CHECK(both.at("interval").string() == "95 % interval (logit)");
  for (const Json& each : both.at("groups").elements())
    if (each.at("mean").number() == 0.75) CHECK(each.find("low") == nullptr);
}

namespace {

// Groups of three runs with this many learning rates; the metrics have a fraction near 1.
struct RunsWithCurves : TemporaryFolder {
  explicit RunsWithCurves(int rates) {
    for (int rate = 1; rate <= rates; ++rate)
      for (int seed = 1; seed <= 3; ++seed) {
        const std::string run = fmt::format("{}/s/{}-{}", path, rate, seed);
        write_run(run, fmt::format("seed = {}\n[optim]\nlr = 0.00{}\n", seed, rate));
        write_file(run + "/result.json", R"({"val": {"loss": 1, "exact_match": 0.9}})");
        std::string rows;
        for (int step = 10; step <= (seed == 3 ? 20 : 30); step += 10)
          rows += fmt::format(R"({{"step":{},"val":{{"loss":1,"exact_match":{}}}}})", step,
                              1 - 0.01 * seed) +
                  "\n";
        write_file(run + "/metrics.jsonl", rows);
      }
  }
};

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++count;
  return count;
}

}  // namespace

TEST_CASE("a figure has lines with bands, axis titles, a legend and dashes, and no script") {
  const RunsWithCurves runs(9);
  const ProgramOutput output = succeeded(
      heed_in(runs.path, {"report", "s", "--figure", "f.svg", "--score", "val.exact_match"}));
  CHECK(output.out == "f.svg\n");
  const std::string svg = read_file(runs / "f.svg", "figure");
  CHECK_CONTAINS(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(count_of(svg, "<polyline ") == 9);
  CHECK(count_of(svg, "<polygon ") == 9);
  CHECK(count_of(svg, "stroke-dasharray=\"7 3\"") == 4);  // lines 1 and 5, each with its legend
  for (const char* part : {">training step</text>", ">Validation exact match (fraction)</text>",
                           ">lr=0.009</text>", "mean over seeds; band: its 95 % interval"})
    CHECK_CONTAINS(svg, part);
  for (const char* part : {"<script", "nan", "inf", "http://www.w3.org/1999/xlink", "class="})
    CHECK(svg.find(part) == svg.npos);
  CHECK_FALSE(exists(runs / "report.html"));
  const FigureRequest by_run = {.paths = {runs / "s"}, .scores = {"val.loss"}, .by_run = true};
  CHECK(count_of(figure_of(by_run), "<polyline ") == 27);
  check_rejected(
      heed_in(runs.path, {"report", "s", "--figure", "g.svg", "--score", "val.bleu"}), 2,
      {"--score val.bleu: no metrics.jsonl of these runs has such a curve; choose one of",
       "val.exact_match"});
  check_rejected(heed_in(runs.path, {"report", "s", "--figure", "g.jpg"}), 2,
                 {"g.jpg: expected a name that ends in .svg or .pdf or .png"});
  check_rejected(heed_in(runs.path, {"report", "s", "--figure", "g.svg", "-o", "r.html"}), 2,
                 {"--figure and --output: choose one"});
  CHECK_FALSE(exists(runs / "g.svg"));
}

TEST_CASE("a figure is the PDF or the PNG that its name says") {
  const RunsWithCurves runs(2);
  check_rejected(shell_in(runs.path, "PATH=/nowhere exec $HEED report s --figure f.pdf"), 1,
                 {"f.pdf: PDF and PNG need the program rsvg-convert (Debian: librsvg2-bin)"});
  CHECK(names_in_folder(runs.path) == std::vector<std::string>{"s"});
  if (shell_in(runs.path, "command -v rsvg-convert").code != 0) {
    MESSAGE("SKIPPED: there is no rsvg-convert");
    return;
  }
  for (const auto& [name, begin] : {std::pair("f.pdf", "%PDF-"), {"f.png", "\x89PNG"}}) {
    heed_ok(runs.path, {"report", "s", "--figure", name});
    CHECK(read_file(runs / name, "figure").starts_with(begin));
  }
  CHECK(names_in_folder(runs.path) == std::vector<std::string>{"f.pdf", "f.png", "s"});
}

TEST_CASE("the best possible loss is a dashed line of figures and of pages") {
  const RunsWithCurves runs(1);
  for (int seed = 1; seed <= 3; ++seed)
    AppendedFile(fmt::format("{}/s/1-{}/metrics.jsonl", runs.path, seed))
        .write(fmt::format("{{\"step\":40,\"val\":{{\"loss\":0.9,\"loss_above_best\":0.{}}}}}\n",
                           seed));
  const auto best_of = [](const Report& report, const std::string& name) {
    for (const Json& chart : report.charts)
      if (chart.at("name").string() == name) return chart.find_number("best");
    FAIL("no chart ", name);
    return std::optional<double>();
  };
  const Report all = report_data({.paths = {runs / "s"}}),
               one = report_data({.paths = {runs / "s/1-2"}, .details = false});
  CHECK(best_of(all, "val.loss").value() == doctest::Approx(0.7));
  CHECK(best_of(one, "loss").value() == doctest::Approx(0.7));
  CHECK_FALSE(best_of(all, "val.exact_match"));
  const std::string svg = figure_of({.paths = {runs / "s"}, .scores = {"val.loss"}});
  CHECK_CONTAINS(svg, ">best possible loss</text>");
  CHECK(count_of(svg, "stroke=\"#6f6f6f\" stroke-width=\"2\" stroke-dasharray=\"7 3\"") == 2);
  CHECK(figure_of({.paths = {runs / "s"}, .scores = {"val.exact_match"}}).find("best possible") ==
        svg.npos);
}

TEST_CASE("a figure of several scores has a panel for each kind, and colours of groups") {
  const RunsWithCurves runs(2);
  for (int rate = 1; rate <= 2; ++rate)
    for (int seed = 1; seed <= 3; ++seed)
      AppendedFile(fmt::format("{}/s/{}-{}/metrics.jsonl", runs.path, rate, seed))
          .write(
              "{\"step\":10,\"train\":{\"loss\":0.5}}\n{\"step\":20,\"train\":{\"loss\":0.4}}\n");
  const std::string svg =
      figure_of({.paths = {runs / "s"}, .scores = {"*.loss", "val.exact_match"}, .log_x = true});
  CHECK(count_of(svg, "<polyline ") == 6);
  CHECK(count_of(svg, "rotate(-90)") == 2);  // two panels
  // A colour for each group and dashes for each score, each in a line and in its legend.
  for (const char* part : {"#0072b2\" stroke-width=\"2\"", "#d55e00\" stroke-width=\"2\""})
    CHECK(count_of(svg, part) == 6);
  CHECK(count_of(svg, "stroke-dasharray=\"7 3\"") == 4);
  for (const char* part :
       {">Loss (nats per target)</text>", ">Validation exact match (fraction)</text>",
        ">training step, logarithmic</text>", ">Training examples: loss, lr=0.002</text>",
        ">Validation exact match, lr=0.001</text>"})
    CHECK_CONTAINS(svg, part);
  // The first of three steps is at the left end, and twice the step a constant further.
  const std::string one =
      figure_of({.paths = {runs / "s/1-1"}, .scores = {"val.loss"}, .log_x = true});
  double x[3];
  const size_t at = one.find("points=");
  REQUIRE(std::sscanf(one.c_str() + at, "points=\"%lf,%*f %lf,%*f %lf", x, x + 1, x + 2) == 3);
  CHECK((x[1] - x[0]) / (x[2] - x[0]) == doctest::Approx(std::log(2) / std::log(3)).epsilon(1e-3));
  check_rejected(heed_in(runs.path, {"report", "s", "--score", "val.loss,val.exact_match"}), 2,
                 {"--log-x and several scores are for --figure"});
  check_rejected(heed_in(runs.path, {"report", "s", "--log-x"}), 2, {"are for --figure"});
}

TEST_CASE("groups of examples: one chart of a run, a row of a table, and intervals of their own") {
  const TemporaryFolder folder;
  const std::string run = folder / "r";
  write_run(run, "seed = 1\n");
  write_file(
      run + "/result.json",
      R"({"val": {"loss": 1, "exact_match": 0.5, "examples": 100, "exact_match[length 1.5]": 0.5,)"
      R"("examples[length 1.5]": 4, "exact_match[length 12]": 0.25, "examples[length 12]": 8}})");
  write_file(run + "/metrics.jsonl",
             R"({"step":1,"val":{"loss":1,"exact_match":0.5,"exact_match[length 1.5]":0.5,)"
             R"("exact_match[length 12]":0.25,"examples[length 12]":8}})"
             "\n");
  const Report report = report_data({.paths = {run}, .details = false});
  std::string names;
  for (const Json& chart : report.charts) names += chart.at("title").string() + "; ";
  CHECK(names == "Loss; Validation exact match; Validation exact match by group; ");
  const Json& lines = report.charts[2].at("lines");
  CHECK(report.charts[2].at("fraction").flag());
  CHECK(lines.elements()[0].at("label").string() == "length 1.5");
  CHECK(lines.elements()[1].at("label").string() == "length 12");
  const ScoredRun scored = ScoredRun::load(run);
  const SeedGroups groups = group_runs({scored});
  const auto mean = groups.mean(0, "val.exact_match[length 1.5]");
  const Interval wilson = wilson_interval(0.5, 4);
  REQUIRE(mean);
  CHECK(mean->interval.low == wilson.low);
  CHECK(mean->interval.high == wilson.high);
  const std::string rows = heed_ok(folder.path, {"compare", "r", "--csv", "--long"});
  CHECK_CONTAINS(rows, ",val.exact_match,length 12,1,0.25,");
  CHECK_CONTAINS(rows, ",val.exact_match,,1,0.5,");
}

TEST_CASE("curves of groups are CSV with the number of runs at each step") {
  const RunsWithCurves runs(2);
  heed_ok(runs.path, {"compare", "s", "--score", "val.exact_match", "--curves", "c.csv"});
  const std::string csv = read_file(runs / "c.csv", "curves");
  CHECK(csv.starts_with("group,step,mean,low,high,n\noptim.lr = 0.001,10,0.98,"));
  CHECK(count_of(csv, ",3\n") == 4);  // steps 10 and 20 of both groups
  CHECK(count_of(csv, ",2\n") == 2);  // step 30: one run of each had ended
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    double numbers[4];  // mean, low, high: inside [0, 1]
    const size_t at = line.find(',', line.find(',') + 1) + 1;
    REQUIRE(std::sscanf(line.c_str() + at, "%lf,%lf,%lf,%lf", numbers, numbers + 1, numbers + 2,
                        numbers + 3) == 4);
    CHECK((0 < numbers[1] && numbers[1] < numbers[0]));
    CHECK((numbers[0] < numbers[2] && numbers[2] < 1));
  }
  check_rejected(
      heed_in(runs.path, {"compare", "s", "--score", "val.exact_match", "--curves", "none/c.csv"}),
      2, {"none/c.csv"});
}

TEST_CASE("the exact match of a split has Wilson's interval where it counts examples") {
  const WrittenRun run;
  run.write("result.json",
            R"({"steps": 5000, "seconds": 22, "best_step": 5000,
                "test": {"loss": 0.1, "exact_match": 0.998, "examples": 500},
                "test_longer": {"loss": 4, "exact_match": 0.012, "examples": 0}})");
  const Json data = run.data();
  CHECK(data.at("trained").text() == R"({"steps":5000,"seconds":22.0,"best_step":5000})");
  CHECK(data.at("best_by").string() == "loss");
  const auto& splits = data.at("run").at("scores").elements();
  REQUIRE(splits.size() == 2);
  CHECK(splits[0].at("interval").text() == "[0.988759,0.999647]");
  CHECK(splits[1].at("interval").is_null());
}

TEST_CASE("the time of operations is that of their forward, backward and other rows") {
  Report report = WrittenRun().report();
  report.details = Details();
  Profile& profile = report.details->profile.emplace();
  profile.seconds = 4.5;
  profile.forward = {{.name = "linear", .seconds = 1}, {.name = "add", .seconds = 0.25}};
  profile.backward = {{.name = "linear", .seconds = 2}};
  profile.rest = {{.name = "optimizer", .seconds = 0.75}};
  profile.layers = {{"a.0", {.name = "", .seconds = 1}, {.name = "", .seconds = 2}}};
  CHECK(run_page_data(report).at("time").text() ==
        R"({"seconds":4.5,"layers":[["a.0",1.0,2.0]],"operations":[["add",0.25,0.0],)"
        R"(["linear",1.0,2.0],["optimizer",0.0,0.75]]})");
}

TEST_CASE("norms of parameters are those of the parts of the model") {
  const WrittenRun run;
  run.write("metrics.jsonl",
            R"({"step":1,"statistics":{"parameters":{)"
            R"("decoder.layers.0.attention.query.weight":{"weight":3,"gradient":1,"update":0.1},)"
            R"("decoder.layers.1.attention.key.weight":{"weight":4,"gradient":0,"update":0},)"
            R"("decoder.norm.bias":{"weight":2,"gradient":1,"update":0.5}}}})"
            "\n");
  const Report report = run.report();
  REQUIRE(report.statistics.size() == 3);
  const auto& lines = report.statistics[0].at("lines").elements();
  CHECK(lines[0].at("label").string() == "decoder attention");
  CHECK(lines[0].at("y").text() == "[5.0]");
  CHECK(lines[1].at("label").string() == "norms");
  const auto& updates = report.statistics[2].at("lines").elements();
  CHECK(updates[0].at("y").elements()[0].number() == doctest::Approx(0.3 / 5));
}

TEST_CASE("a report of a trained run has attention at each checkpoint, samples, errors and model") {
  const TemporaryFolder folder;
  write_file(folder / "tiny.toml", tiny_config());
  heed_ok(folder.path, {"train", "tiny.toml", "--run", "run", "--set", "train.keep_checkpoints=3",
                        "--set", "train.snapshots=0"});
  const Report report = report_data({{folder / "run"}, true, false});
  const Details& details = *report.details;
  CHECK(details.notes == std::vector<std::string>());
  CHECK(details.split == "test");
  const Report of_val = report_data({.paths = {folder / "run"}, .profile = false, .split = "val"});
  CHECK(of_val.details->split == "val");
  check_rejected(heed_in(folder.path, {"report", "run", "--split", "x"}), 2,
                 {"--split: no split 'x'; the splits are test, train, val"});
  CHECK_FALSE(details.profile.has_value());
  CHECK(report.runs[0].command ==
        "heed train tiny.toml --run run --set train.keep_checkpoints=3 "
        "--set train.snapshots=0");

  const Json& attention = details.attention;
  CHECK(attention.at("steps").text() == "[10,20,30]");
  const Json& map = attention.at("examples").elements()[0].at("maps").elements()[0];
  CHECK(map.at("name").string() == "encoder.layers.0.attention");
  CHECK(map.at("weights").elements().size() == 3);
  const std::string bytes = bytes_of_base64(map.at("weights").elements()[0].string());
  const size_t rows = map.at("rows").elements().size(),
               columns = map.at("columns").elements().size();
  REQUIRE(bytes.size() == 2 * rows * columns);
  double sum = 0;  // of the weights of the first query
  for (size_t i = 0; i < columns; ++i)
    sum += std::pow(static_cast<unsigned char>(bytes[i]) / 255.0, 2);
  CHECK(sum == doctest::Approx(1).epsilon(0.02));

  int64_t targets = 0;
  for (const Json& each : details.confusion.at("counts").elements())
    targets += each.elements()[2].integer();
  CHECK(targets == report.runs[0].result->splits.back().second.targets);
  REQUIRE_FALSE(details.errors.elements().empty());
  const Json& error = details.errors.elements()[0];
  CHECK(error.elements()[0].string() != error.elements()[1].string());
  CHECK_CONTAINS(details.model, "encoder.layers.0.attention");

  // Scores that say what heads do: cross-attention has none of positions.
  const auto& scores = attention.at("scores").elements();
  REQUIRE(scores.size() == 3);
  for (const Json& step : scores)
    for (const Json& head : step.elements()) {
      CHECK(head.at("head").integer() < 2);
      const bool crosses = head.at("module").string().ends_with(".cross_attention");
      CHECK(head.find_number("previous").has_value() != crosses);
      CHECK(head.find_number("previous").value_or(0) <= 1.00001);
    }
  // The mean index of the first wrong token is between the first token and the last.
  const Json& samples = details.samples.elements()[0];
  const int64_t wrong = samples.at("wrong").integer(), examples = samples.at("examples").integer();
  REQUIRE(wrong > 0);
  CHECK(samples.at("split").string() == "test");
  CHECK(samples.at("first_error").number() >= 1);
  CHECK(samples.at("first_error").number() < 10);
  // Wrong ones are shown before right ones, and saved with more.
  const auto& rows_of_test = samples.at("rows").elements();
  REQUIRE(std::ssize(rows_of_test) == std::min<int64_t>(200, examples));
  const auto is_right = [](const Json& row) {
    return row.elements()[1].string() == row.elements()[2].string();
  };
  CHECK(std::ranges::is_partitioned(
      std::span(rows_of_test).first(static_cast<size_t>(samples.at("shown").integer())),
      std::not_fn(is_right)));
  CHECK(std::ranges::count_if(rows_of_test, is_right) >= std::min<int64_t>(200, examples) - wrong);
  const Json data = data_of(report_file(report));
  CHECK(data.at("samples").text() == details.samples.text());
  CHECK(data.at("errors").text() == details.errors.text());
  CHECK_CONTAINS(data.at("commands").at("again").string(), " train --from ");
  CHECK_CONTAINS(report.runs[0].session.text(), R"(["memory, peak",")");

  SUBCASE("what cannot be computed is left out, and the page says why") {
    remove_all(folder / "run/checkpoints/step-20");
    write_file(folder / "run/checkpoints/step-30/model.safetensors", "damaged");
    const Json other = data_of(report_file(report_data({{folder / "run"}, true, false})));
    CHECK_CONTAINS(other.at("details").text(), "Attention, samples and errors are left out");
    CHECK(other.at("samples").elements().empty());
  }
}

TEST_CASE("errors by length are by the source of a decoder-only task, without its target") {
  const Workspace runs;
  runs.train("copies",
             "[train]\nsteps = 2\nbatch_size = 4\n[model]\nkind = 'language_model'\nlayers = 1\n"
             "dim = 16\nheads = 2\n[data]\nkind = 'copy'\nlengths = [1, 4]\nval_size = 60\n"
             "test_size = 60\n");
  const auto lengths_of = [](const Json& rows, const char* name) {
    std::string lengths;
    for (const Json& row : rows.elements()) lengths += row.at(name).text() + " ";
    return lengths;
  };
  const Json scores =
      Json::parse(runs.ok({"evaluate", "copies", "--by", "length", "--json"}), "scores");
  CHECK(lengths_of(scores.at("errors_by_length"), "length") == "1 2 3 4 ");
  CHECK(lengths_of(scores.at("by"), "kind") == R"("1" "2" "3" "4" )");
  const Report report = report_data({{runs / "copies"}, true, false});
  CHECK(lengths_of(report.details->lengths.at("rows"), "length") == "1 2 3 4 ");
  CHECK(report.details->lengths.at("longest").integer() == 4);
  // The losses by position are those of evaluate, and of a range of positions.
  const Json by =
      Json::parse(runs.ok({"evaluate", "copies", "--by", "position", "--json"}), "json");
  const Json& line = report.details->positions.at("lines").elements().at(0);
  REQUIRE(line.at("x").elements().size() == by.at("by").elements().size());
  for (size_t i = 0; i < line.at("x").elements().size(); ++i) {
    const Json& kind = by.at("by").elements()[i];
    CHECK(std::stod(kind.at("kind").string()) == line.at("x").elements()[i].number());
    CHECK(line.at("y").elements()[i].number() ==
          doctest::Approx(kind.at("loss").number()).epsilon(1e-5));
  }
  const std::string last = by.at("by").elements().back().at("kind").string();
  const Report some = report_data(
      {.paths = {runs / "copies"}, .profile = false, .positions = PositionRange::parse(last)});
  CHECK(some.details->positions.is_null());  // one position only
  const Report none = report_data(
      {.paths = {runs / "copies"}, .profile = false, .positions = PositionRange::parse("90:91")});
  CHECK_CONTAINS(none.details->notes.at(0), "--positions 90:91: no target is at these positions");
  const Json all = Json::parse(runs.ok({"inspect", "copies", "ablate", "--json"}), "json"),
             one = Json::parse(
                 runs.ok({"inspect", "copies", "ablate", "--json", "--positions", last}), "json");
  for (size_t i = 0; i < all.at("parts").elements().size(); ++i)
    CHECK(all.at("parts")
              .elements()[i]
              .at("loss_by_position")
              .elements()
              .back()
              .elements()[1]
              .number() ==
          doctest::Approx(one.at("parts").elements()[i].at("loss").number()).epsilon(1e-6));
  check_rejected(runs.heed({"inspect", "copies", "heads", "--positions", "1"}), 2,
                 {"--positions goes with the view ablate"});
  CHECK_CONTAINS(runs.ok({"data", "copies.toml"}), "length of source: 1 ");
}

TEST_CASE("the list of runs follows what appears, grows, is damaged and is removed") {
  const TemporaryFolder folder;
  const auto rows = [&] { return WatchedFolder(folder.path).rows().at("runs"); };  // read afresh
  CHECK(rows().elements().empty());
  write_run(folder / "a/deep", "seed = 1\n");
  REQUIRE(rows().elements().size() == 1);
  CHECK(
      rows().elements()[0].text() ==
      R"({"name":"a/deep","state":"none","date":"2026-01-01T00:00:00Z","steps":1000,"changed":[]})");

  std::string metrics;
  for (int step = 1; step <= 2000; ++step)
    metrics += fmt::format("{{\"step\":{},\"loss\":{}}}\n", step, 1.0 / step);
  write_file(folder / "a/deep/metrics.jsonl",
             metrics + "{\"step\":2000,\"val\":{\"loss\":0.5}}\n{\"st");
  write_file(folder / "a/deep/result.json", "{}");
  const Json run = rows().elements()[0];
  for (const auto& [name, value] :
       {std::pair("step", 2000.0), {"steps", 1000}, {"loss", 0.0005}, {"val_loss", 0.5}})
    CHECK(run.at(name).number() == value);
  const auto &x = run.at("x").elements(), &y = run.at("y").elements();
  CHECK((x.size() == y.size() && x.size() > 20 && x.size() < 60));
  CHECK(y[3].number() == doctest::Approx(1 / x[3].number()).epsilon(1e-5));

  WatchedFolder list(folder.path);
  CHECK(list.has("a/deep"));
  for (const char* name : {"a", "..", "a/../a/deep", "", "/etc"}) CHECK_FALSE(list.has(name));

  // A sweep is a group of runs, and its names are those of its runs.
  CHECK(list.rows().at("sweeps").elements().empty());
  write_file(folder / "base.toml", "[train]\nsteps = 1000\n");
  write_file(folder / "a/sweep.toml",
             "config = \"../base.toml\"\nquestion = \"<b>?\"\nseeds = [1, 2]\n");
  write_file(folder / "a/deep/result.json", R"({"val": {"loss": 2}})");
  WatchedFolder swept(folder.path);
  const Json sweep = swept.rows().at("sweeps").elements().at(0);
  CHECK(sweep.at("name").string() == "a");
  CHECK(sweep.at("question").string() == "<b>?");
  CHECK(sweep.at("planned").integer() == 2);
  CHECK(sweep.at("groups").elements()[0].at("seeds").elements().size() == 1);
  CHECK(swept.has("a"));
  CHECK(WatchedFolder(folder.path).version({"a"}) != WatchedFolder(folder.path).version({"b"}));
  write_file(folder / "a/sweep.toml", "axes = 3");
  CHECK(WatchedFolder(folder.path).rows().at("sweeps").elements()[0].text() == R"({"name":"a"})");

  const std::string before = WatchedFolder(folder.path).version();
  write_file(folder / "a/deep/metrics.jsonl", metrics + "\n");
  CHECK(WatchedFolder(folder.path).version() != before);
  remove_all(folder / "a/deep/config.toml");
  CHECK(rows().elements().empty());
}

TEST_CASE("keys have the shortest names that say what they are") {
  CHECK(key_names({"model.heads", "model.positional.kind", "data.kind", "data", "seed"}) ==
        std::vector<std::string>{"heads", "positions", "data.kind", "data", "seed"});
  CHECK(key_names({"optim.lr", "other.lr"}) == std::vector<std::string>{"optim.lr", "other.lr"});
}

TEST_CASE("the run of a sweep tells where it differs from its config") {
  const Workspace folder;
  write_file(folder / "tiny.toml", tiny_config());
  folder.ok({"train", "tiny.toml", "--run", "r", "--set", "model.positional.kind=rotary", "--set",
             "train.steps=2", "--set", "threads=1"});
  const Json run = WatchedFolder(folder.path).rows().at("runs").elements().at(0);
  CHECK(run.at("config").string() == "tiny.toml");
  const std::string changed = run.at("changed").text();
  CHECK_CONTAINS(changed, R"(["positions","\"rotary\""])");
  CHECK_CONTAINS(changed, R"(["steps","2"])");
  CHECK(changed.find("threads") == changed.npos);  // changes no result
  CHECK(run.at("date").string().size() == 20);
}

TEST_CASE("a list and a live page escape names") {
  const std::string name = "<img>&\"x";
  const Json row = Json::object().set("name", name).set("state", "done");
  Json rows = Json::array();
  rows.push(row);
  const std::string page =
      list_page(Json::object().set("runs", rows).set("sweeps", Json::array()), "12ab");
  CHECK_CONTAINS(page, "<body data-live=\"12ab\">");
  CHECK_CONTAINS(page, "<td>&lt;img&gt;&amp;&quot;x</td>");
  CHECK(page.find("<img") == page.npos);
  CHECK(data_of(page).at("runs").text() == rows.text());
  CHECK(problem_page("<b>").find("<b>") == std::string::npos);
  CHECK(data_of(problem_page("<b>")).at("problem").string() == "<b>");
  CHECK(data_of(live_page(WrittenRun().report(), name, "12ab")).at("details_of").string() == name);
}
