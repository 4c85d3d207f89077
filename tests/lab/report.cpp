// heed report: curves, charts, escaping, and runs with missing or damaged parts.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <sstream>

#include "apps/support/digest.h"
#include "lab/experiments/curves.h"
#include "lab/report/charts.h"
#include "lab/report/page.h"
#include "lab/report/report_data.h"
#include "lab/report/run_list.h"
#include "lab/report/run_page.h"
#include "lab/report/words.h"
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

TEST_CASE("a thinned curve keeps its ends, and the minimum and maximum of every part") {
  Curve curve{"loss", {}, {}};
  for (int i = 0; i < 100'000; ++i) {
    curve.steps.push_back(i);
    curve.values.push_back(i == 31'234 ? 9.0 : i == 77'777 ? -9.0 : (i % 97) / 97.0);
  }
  for (const size_t most : {4, 5, 100, 2000}) {
    const Curve thin = thinned(curve, most);
    CAPTURE(most);
    CHECK(thin.values.size() <= most);
    CHECK(thin.values.size() + 2 >= most);
    CHECK(std::ranges::is_sorted(thin.steps, std::less_equal()));
    CHECK(thin.steps.front() == 0);
    CHECK(thin.steps.back() == 99'999);
    CHECK(std::ranges::count(thin.values, 9.0) == 1);
    CHECK(std::ranges::count(thin.values, -9.0) == 1);
    for (size_t i = 0; i < thin.steps.size(); ++i)
      CHECK(curve.values[static_cast<size_t>(thin.steps[i])] == thin.values[i]);
  }
  const Curve few{"loss", {1, 2, 3}, {3, 1, 2}};
  CHECK(thinned(few, 4).values == few.values);
}

TEST_CASE("a chart says which axis its values call for") {
  const auto is_log = [](const char* name, const std::vector<double>& values) {
    return chart_json({"", name, {{"a", 0, {"", {1, 2}, values}}}}).at("log").flag();
  };
  CHECK_FALSE(is_log("loss", {1, 1}));
  CHECK(is_log("loss", {100, 1}));
  CHECK_FALSE(is_log("loss", {100, 0}));
  CHECK_FALSE(is_log("lr", {100, 1}));  // a schedule is known by its shape
  CHECK(chart_json({"", "lr", {}}).at("from_zero").flag());
  CHECK_FALSE(chart_json({"", "loss", {}}).at("from_zero").flag());
  Chart means{"Loss", "loss", {{"a", 0, {"", {1, 2}, {2, 1}}, {1, 0.5}, {3, 2}}}, true};
  means.lines[0].seeds = {{"", {1, 2}, {2.5, 1.5}}, {"", {1, 2}, {1.5, 0.5}}};
  const Json json = chart_json(means);
  CHECK(json.at("log").flag());  // as its bands are
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
  for (const char* part : {"<td>test</td><td class=\"n\"><b>50.0 %</b></td><td class=\"n q\">–</td>"
                           "<td class=\"n\">1.250</td>",
                           "<td>seed</td><td>5</td><td>1</td>", "data-draw=\"curves\"",
                           // without scripts: the first, the last and the best value
                           "<td>Loss, Training loss</td><td class=\"n\">2.500 (step 10)</td><td "
                           "class=\"n\">1.500 (step 20)</td><td class=\"n\">1.500 (step 20)</td>",
                           "default-src 'none'", "\"y\":[2.5,1.5]"})
    CHECK_CONTAINS(page, part);
  CHECK(page.find("http-equiv") < page.find("<script"));
  CHECK(page.size() < 500'000);
}

TEST_CASE("the loss of training comes before that of validation, even if it was measured later") {
  const WrittenRun run;
  run.write("metrics.jsonl", "{\"step\":5,\"val\":{\"loss\":1.75}}\n{\"step\":10,\"loss\":1.5}\n");
  const std::string page = run.page();
  CHECK(page.find("<td>Loss, Training loss</td>") < page.find("<td>Loss, Validation loss</td>"));
  CHECK_CONTAINS(page, "<td>Loss, Validation loss</td>");
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
}

TEST_CASE("a report leaves out what a run lacks, and says so") {
  const WrittenRun run;
  CHECK(has_note(run.report(), "no curves"));
  CHECK(has_note(run.report(), "has not ended"));
  CHECK_CONTAINS(run.page(), "class=\"note\"");

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
  CHECK_CONTAINS(page, "2 runs");
  CHECK_CONTAINS(page, "\"label\":\"mean\"");  // of two seeds
  CHECK_CONTAINS(page, first.path + ": There are no scores");
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
  const RunGroups& groups = report.sweep->groups;
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
  CHECK(report.charts.at(0).at("log").flag());

  const std::string page = report_file(report);
  for (const char* part :
       {"Do model.dim and optim.lr change val.loss?", "data-draw=\"groups\"",
        "data-draw=\"effects\"", "Best by val.loss: dim=8, lr=0.002",
        // 3 pairs: whatever the difference, the page does not call it one
        "optim.lr = 0.01 instead of 0.002: too few seeds to tell.", "higher in all 3 seeds",
        "model.dim = 16 instead of 8: no difference above 0.0 %.",
        // the two keys do not change each other's effect
        "interaction: the effect of dim at one value of lr, over that at another one",
        "dim=16, not 8, at lr=0.01 over 0.002</td><td class=\"n\">3</td><td "
        "class=\"n\"><b>1.00</b>",
        "\"interaction\":[\"model.dim\",\"optim.lr\"]",
        "{\"key\":\"optim.lr\",\"values\":[\"0.002\",\"0.01\"],\"size\":2.",
        "\"values\":[\"8\",\"0.002\"],\"colour\":0,\"dash\":",
        "<p>too few seeds for optim.lr: with 3 seeds no p can be below 0.25, so none can be below "
        "0.05; 6 seeds would do.</p>",
        "<p>too few seeds for groups: with 3 seeds and 3 comparisons (Holm) no p can be below "
        "0.75, "})
    CHECK_CONTAINS(page, part);
  CHECK(page.substr(0, page.find("<script")).find("nan") == page.npos);
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
  REQUIRE(report.arrivals.has_value());
  const RunGroups& groups = report.sweep->groups;
  for (size_t i = 0; i < groups.groups.size(); ++i) {
    const Arrivals::Group& group = report.arrivals->groups[i];
    const std::string name = name_of_group(groups, i);
    CAPTURE(name);
    REQUIRE(group.median.has_value());
    const bool fast = name.ends_with("lr=0.002");
    CHECK(group.median->reached == (fast ? 2 : 0));
    CHECK(group.left_out == (name == "dim=16, lr=0.002" ? 1 : 0));
    CHECK(group.steps.size() == (name == "dim=16, lr=0.002" ? 2 : 3));
    CHECK(group.median->steps == (!fast ? INFINITY : name == "dim=16, lr=0.002" ? 15 : 20));
    if (fast) CHECK(group.steps[0] == std::pair<int64_t, std::optional<double>>(1, 10));
  }
  const std::string page = report_file(report);
  for (const char* part :
       {"<p class=\"say\">&lt;b&gt;Which?</p>", "Time to a target",
        "<td class=\"n bad\">0 of 3</td><td class=\"n\">&gt; 40</td>",
        "<td class=\"n bad\">2 of 3</td><td class=\"n\">20</td><td class=\"n\">20.0</td>",
        "Left out: 1 run that failed, or trains", "\"values\":[\"16\",\"0.002\"]", "\"step\":null",
        "<td class=\"m\">16-0.01/1</td>"})
    CHECK_CONTAINS(page, part);
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
  // Returns the command below "Add …", and checks what the page says of it.
  const auto command = [&](const std::string& path, const char* said) {
    folder.ok({"report", path, "-o", "page.html"});
    const std::string page = folder.read("page.html");
    CHECK_CONTAINS(page, "too few seeds to tell");
    CHECK_CONTAINS(page, said);
    std::string text = page.substr(page.find(said));
    text = text.substr(text.find("<code>") + 6);
    text.resize(text.find("</code>"));
    for (size_t at = 0; (at = text.find("&quot;", at)) != text.npos;) text.replace(at, 6, "\"");
    return text;
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
    const std::string text = command("a b", "Add 4 seeds (8 runs)");
    CHECK(text.ends_with(" sweep 'a b' --seeds 2-7 --max-runs 12"));
    const std::string sweep = folder.read("a b/sweep.toml");
    folder.replace("a b/sweep.toml", "seeds = [2, 3]", "seeds = [2, 3, 4, 5, 6, 7]");
    folder.replace("a b/sweep.toml", "max_runs = 5", "max_runs = 12");
    folder.ok({"report", "a b", "-o", "page.html"});  // these are yet to train
    CHECK(folder.read("page.html").find("<p class=\"q s\">Add ") == std::string::npos);
    write_file(folder / "a b/sweep.toml", sweep);
    run(text);
    const Report report = report_data({{folder / "a b"}});
    CHECK(report.runs.size() == 12);
    CHECK(report.sweep->effects.groups[0].seeds == std::vector<int64_t>{2, 3, 4, 5, 6, 7});
    CHECK_CONTAINS(report_file(report), "12 of 12 runs done");
  }

  SUBCASE("of runs that are no sweep") {
    for (const char* rate : {"1e-3", "1e-4"}) {
      std::vector<std::string> arguments = {"train", "tiny.toml",
                                            "--run", fmt::format("r/{} x", rate),
                                            "--set", fmt::format("optim.lr={}", rate)};
      arguments.insert(arguments.end(), short_runs.begin(), short_runs.end());
      folder.ok(arguments);
    }
    run(command("r", "Add 5 seeds (10 runs)"));
    const Report report = report_data({{folder / "r"}});
    CHECK(report.runs.size() == 12);
    CHECK(report.sweep->effects.groups[0].seeds.size() == 6);
  }
}

TEST_CASE("a report says how long its runs still train") {
  const WrittenRun run("[train]\nsteps = 1000\n");
  run.write("metrics.jsonl", "{\"step\":100,\"loss\":2,\"seconds\":4}\n");
  Report report = run.report();
  CHECK_FALSE(seconds_left(report.runs[0]).has_value());
  report.runs[0].state = RunState::running;
  CHECK(*seconds_left(report.runs[0]) == doctest::Approx(36));
  CHECK_CONTAINS(report_file(report), "about 36 s left");

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
  const std::string page = report_file(sweep);
  for (const char* part :
       {"<span class=\"state running\">1 of 4 runs done, 1 running</span>", "about 2:40 left",
        "<td class=\"n\">40 s</td><td class=\"last\">about 40 s left"})
    CHECK_CONTAINS(page, part);
  CHECK(page.find(">Continue<") == page.npos);  // it goes on by itself
  sweep.runs[1].state = RunState::resumable;
  CHECK_CONTAINS(report_file(sweep), ">Continue<");
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
  const std::string page = report_file(report_data({{folder / "s"}}));
  CHECK_CONTAINS(page, "2 of 3 (1 failed)");
  CHECK_CONTAINS(page, "1 of 3 runs failed and has no scores: a mean leaves out");
  CHECK_CONTAINS(page, "failed: " + folder / "s/3" + ": step 3: the loss is NaN; lower optim.lr");
  CHECK_CONTAINS(page, "The run failed: step 3: the loss is NaN; lower optim.lr");  // in its row
  const std::string exact =
      report_file(report_data({.paths = {folder / "s"}, .score = "val.exact_match"}));
  CHECK_CONTAINS(exact, "<b>75.0 %</b></td><td class=\"n q\">65.7 … 82.5</td>");
  CHECK_CONTAINS(exact, ">95 % interval (Wilson)<");
  const Report listed = report_data({.paths = {folder / "s"}, .by_run = true});
  const std::string rows = report_file(listed);
  CHECK_CONTAINS(rows, "<th>run</th>");
  CHECK_CONTAINS(rows, folder / "s/3" + "</td><td class=\"n\">3</td><td class=\"n\">failed</td>");
  CHECK(listed.charts.at(0).at("lines").elements().size() == 3);  // a curve for each run
  // A second group whose seeds differ: the column has intervals over seeds, none of the first.
  for (int seed = 4; seed <= 5; ++seed) {
    const std::string path = fmt::format("{}/s/{}", folder.path, seed);
    write_run(path, fmt::format("seed = {}\n[model]\nlayers = 3\n", seed));
    write_file(
        path + "/result.json",
        fmt::format(R"({{"val": {{"loss": 1, "exact_match": 0.{}, "examples": 100}}}})", seed));
  }
  const std::string both =
      report_file(report_data({.paths = {folder / "s"}, .score = "val.exact_match"}));
  CHECK_CONTAINS(both, ">95 % interval (logit)<");
  CHECK_CONTAINS(both, "<b>75.0 %</b></td><td class=\"n q\">–</td>");
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
  const ReportRequest by_run = {.paths = {runs / "s"}, .score = "val.loss", .by_run = true};
  CHECK(count_of(figure_of(by_run), "<polyline ") == 27);
  check_rejected(
      heed_in(runs.path, {"report", "s", "--figure", "g.svg", "--score", "val.bleu"}), 2,
      {"--score val.bleu: no metrics.jsonl of these runs has such a curve; choose one of",
       "val.exact_match"});
  for (const char* name : {"g.pdf", "g.png"})
    check_rejected(heed_in(runs.path, {"report", "s", "--figure", name}), 2,
                   {"expected a name that ends in .svg"});
  check_rejected(heed_in(runs.path, {"report", "s", "--figure", "g.svg", "-o", "r.html"}), 2,
                 {"--figure and --output: choose one"});
  CHECK_FALSE(exists(runs / "g.svg"));
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

TEST_CASE("the first wrong token of an output is struck out, and what should stand there follows") {
  const auto marked = [](const std::string& predicted, const std::string& expected) {
    Report report = WrittenRun().report();
    report.details = Details();
    report.details->samples = {{"test", {{"in", predicted, expected}}, 1, 3}};
    for (const heed::Section& section : sections_of_run(report))
      if (section.id == std::string("samples")) {
        const size_t begin = section.content.find("<td>in</td><td>") + 15;
        return section.content.substr(begin, section.content.find("</td>", begin) - begin);
      }
    return std::string();
  };
  CHECK(marked("1 2 3", "1 2 3") == "1 2 3");
  CHECK(marked("1 22 3", "1 2 3") ==
        "1 <s class=\"w\">22</s> <ins class=\"t\">2</ins> <span class=\"q\">3</span>");
  CHECK(marked("1 2", "1 2 3") == "1 2 <ins class=\"t\">3</ins> <span class=\"q\"></span>");
  CHECK(marked("1 2 3", "1 2") ==
        "1 2 <s class=\"w\">3</s> <ins class=\"t\">end</ins> <span class=\"q\"></span>");
  CHECK(marked("käse", "kase") ==
        "k<s class=\"w\">ä</s> <ins class=\"t\">a</ins> <span class=\"q\">se</span>");
  CHECK_CONTAINS(marked("<b>", "x"), "&lt;");
}

TEST_CASE("a headline is the result in words, and the sentence below it what does not work") {
  const auto said = [](const std::string& result) {
    const WrittenRun run;
    run.write("result.json", result);
    const Report report = run.report();
    return headline_of(report.runs[0]) + " | " + lead_of(report.runs[0]);
  };
  const std::string exact =
      R"({"steps": 5000, "seconds": 22, "best_step": 5000,
          "test": {"loss": 0.1, "exact_match": 0.998, "examples": 500},
          "test_longer": {"loss": 4, "exact_match": 0.012, "examples": 500}})";
  CHECK(
      said(exact) ==
      "reverse: 99.8 % of 500 test outputs are exactly right after 5\u202f000 steps, 22 s | Of the "
      "split test_longer only 1.2 % are. The best step by validation loss is the last one: it was "
      "still improving.");
  // What is surely worse stands out.
  const std::string scores = scores_of_run(Json::parse(exact, "result.json"));
  CHECK_CONTAINS(scores, "<b>99.8 %</b></td><td class=\"n q\">98.9 … 100.0</td>");
  CHECK_CONTAINS(scores, "<td class=\"n bad\">1.2 %</td>");
  CHECK(said(R"({"steps": 100, "best_step": 50, "val": {"token_accuracy": 0.5, "loss": 2}})") ==
        "reverse: 50.0 % of the validation tokens are predicted right after 100 steps | The best "
        "step by validation loss is 50.");
  CHECK(said(R"({"val": {"loss": 2.5}})") == "reverse: validation loss 2.500 | ");
  CHECK(said("{}") == "reverse: step 0 of 20 | ");
  CHECK(WrittenRun().page().find("class=\"say\"") != std::string::npos);
}

TEST_CASE("the kinds of operations add up to a step") {
  Profile profile;
  profile.forward = {{.name = "linear", .seconds = 1}, {.name = "add", .seconds = 0.25}};
  profile.backward = {{.name = "linear", .seconds = 2},
                      {.name = "scaled_dot_product_attention", .seconds = 0.5},
                      {.name = "linear_cross_entropy", .seconds = 0.125}};
  profile.rest = {{.name = "optimizer", .seconds = 0.75}, {.name = "batch", .seconds = 0.375}};
  double sum = 0;
  std::string text;
  const Json kinds = time_by_kind(profile);
  for (const Json& kind : kinds.elements()) {
    const double forward = kind.at("forward").number(), backward = kind.at("backward").number();
    sum += forward + backward;
    text += fmt::format("{} {} {}; ", kind.at("name").string(), forward, backward);
  }
  CHECK(sum == 5.0);
  CHECK(text ==
        "matrix products 1 2; attention 0 0.5; norms, sums, activations 0.25 0; loss 0 0.125; "
        "optimizer 0 0.75; rest 0 0.375; ");
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
  heed_ok(folder.path, {"train", "tiny.toml", "--run", "run", "--set", "train.keep_checkpoints=3"});
  const Report report = report_data({{folder / "run"}, true, false});
  const Details& details = *report.details;
  CHECK(details.notes == std::vector<std::string>());
  CHECK(details.split == "test");
  const Report of_val = report_data({.paths = {folder / "run"}, .profile = false, .split = "val"});
  CHECK(of_val.details->split == "val");
  check_rejected(heed_in(folder.path, {"report", "run", "--split", "x"}), 2,
                 {"--split: no split 'x'; the splits are test, train, val"});
  CHECK_FALSE(details.profile.has_value());
  CHECK(report.runs[0].command == "heed train tiny.toml --run run --set train.keep_checkpoints=3");

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
  for (const Confusion::Count& each : details.confusion->counts) targets += each.count;
  CHECK(targets == report.runs[0].result.at("test").at("targets").integer());
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
  const SampledSplit& samples = details.samples.at(0);
  REQUIRE(samples.wrong > 0);
  CHECK(samples.first_error >= 1);
  CHECK(samples.first_error < 10);
  // Wrong ones are shown before right ones, and saved with more.
  REQUIRE(samples.samples.size() == static_cast<size_t>(std::min<int64_t>(200, samples.examples)));
  const auto is_right = [](const Prediction& sample) {
    return sample.predicted == sample.expected;
  };
  CHECK(std::ranges::is_partitioned(samples.shown(), std::not_fn(is_right)));
  CHECK(std::ranges::count_if(samples.samples, is_right) >=
        std::min<int64_t>(200, samples.examples) - samples.wrong);
  const Json data = data_of_run(report);
  CHECK(data.at("samples").elements().size() == samples.samples.size());
  CHECK(data.at("samples").elements()[0].strings() ==
        std::vector<std::string>{"test", samples.samples[0].source, samples.samples[0].predicted,
                                 samples.samples[0].expected});
  CHECK(std::ranges::find(report.runs[0].session, "memory, peak",
                          &std::pair<std::string, std::string>::first) !=
        report.runs[0].session.end());

  const std::string page = report_file(report);
  for (const char* part :
       {". The first wrong token is on average the ", " train --from ", "id=\"attention\"",
        "data-draw=\"attention\"", "data-draw=\"samples\"", "id=\"errors\""})
    CHECK_CONTAINS(page, part);

  SUBCASE("what cannot be computed is left out, and the page says why") {
    remove_all(folder / "run/checkpoints/step-20");
    write_file(folder / "run/checkpoints/step-30/model.safetensors", "damaged");
    const std::string other = report_file(report_data({{folder / "run"}, true, false}));
    CHECK_CONTAINS(other, "Attention, samples and errors are left out");
    CHECK(other.find("id=\"samples\"") == other.npos);
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
  CHECK_CONTAINS(runs.ok({"data", "copies.toml"}), "length of source: 1 ");
}

TEST_CASE("the list of runs follows what appears, grows, is damaged and is removed") {
  const TemporaryFolder folder;
  const auto rows = [&] { return RunList(folder.path).rows(); };  // read afresh
  CHECK(rows().elements().empty());
  write_run(folder / "a/deep", "seed = 1\n");
  REQUIRE(rows().elements().size() == 1);
  CHECK(rows().elements()[0].text() == R"({"name":"a/deep","state":"none"})");

  std::string metrics;
  for (int step = 1; step <= 2000; ++step)
    metrics += fmt::format("{{\"step\":{},\"loss\":{}}}\n", step, 1.0 / step);
  write_file(folder / "a/deep/metrics.jsonl",
             metrics + "{\"step\":2000,\"val\":{\"loss\":0.5}}\n{\"st");
  write_file(folder / "a/deep/result.json", "{}");
  CHECK(rows().elements()[0].text() ==
        R"({"name":"a/deep","state":"done","step":2000.0,"loss":0.0005,"val_loss":0.5})");

  RunList list(folder.path);
  CHECK(list.has("a/deep"));
  for (const char* name : {"a", "..", "a/../a/deep", "", "/etc"}) CHECK_FALSE(list.has(name));

  const std::string before = RunList(folder.path).version();
  write_file(folder / "a/deep/metrics.jsonl", metrics + "\n");
  CHECK(RunList(folder.path).version() != before);
  remove_all(folder / "a/deep/config.toml");
  CHECK(rows().elements().empty());
}

TEST_CASE("a list and a live page escape names") {
  const std::string name = "<img>&\"x";
  const Json row = Json::object().set("name", name).set("state", "done");
  Json rows = Json::array();
  rows.push(row);
  const std::string page = list_page(rows);
  CHECK_CONTAINS(page, "/report?run=%3Cimg%3E%26%22x");
  CHECK_CONTAINS(page, "value=\"&lt;img&gt;&amp;&quot;x\"");
  CHECK(page.find("<img") == page.npos);
  CHECK(problem_page("<b>").find("<b>") == std::string::npos);
  CHECK_CONTAINS(live_page(WrittenRun().report(), name), "run=%3Cimg%3E%26%22x&amp;details=1");
}
