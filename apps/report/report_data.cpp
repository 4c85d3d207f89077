#include "apps/report/report_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "apps/experiments/run_state.h"
#include "apps/report/charts.h"
#include "apps/report/curves.h"
#include "apps/report/details.h"
#include "apps/report/sweep_data.h"
#include "apps/support/files.h"
#include "apps/support/log.h"
#include "apps/support/numbers.h"
#include "apps/support/version.h"
#include "apps/training/run_record.h"
#include "apps/training/saved_run.h"
#include "core/check.h"

namespace heed {

namespace {

constexpr int64_t max_result_file = 1 << 20;
constexpr size_t max_points_in_all = 120'000;  // of a report: about 2 MB

using Facts = std::vector<std::pair<std::string, std::string>>;

struct ReportedRun {
  SavedRun saved;
  Curves curves;
  Json result;  // null while there is none
  Facts session;
  std::map<std::string, std::string> set_in;  // by key
  std::string command;  // that began the run: the config that it comes from, and what --set changed
  std::vector<std::string> notes;
};

Json result_of(const RunFolder& folder) {
  const Json result =
      Json::parse(read_file(folder.result(), "result", max_result_file), folder.result());
  check_input(result.is_object(), "{}: expected an object of scores", folder.result());
  return result;
}

// Reads how the run began, and where and when it was trained last.
void read_sessions(ReportedRun& run) {
  const Json record = sessions_of(run.saved.folder);
  const auto& sessions = record.elements();
  if (sessions.empty()) return;
  for (const Json& word : sessions.front().at("command").elements())
    run.command += (run.command.empty() ? "" : " ") + word.string();
  if (const Json* const set_in = sessions.front().find("set_in"))  // since heed 0.2.0
    for (const auto& [key, origin] : set_in->members()) run.set_in[key] = origin.string();
  const Json& last = sessions.back();
  std::string start = last.at("start").string().substr(0, 16);  // without seconds
  std::ranges::replace(start, 'T', ' ');
  run.session = {{"processor", last.at("processor").string()},
                 {"threads", std::to_string(last.at("threads").integer())},
                 {"started (UTC)", start}};
}

// Calls f. Returns the text of its InputError, "" if it has none.
template <class F>
std::string problem_in(F&& f) {
  try {
    f();
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

ReportedRun read_run(const std::string& path) {
  ReportedRun run{SavedRun::open(path), {}, {}, {}, {}, {}, {}};
  const RunFolder& folder = run.saved.folder;
  const auto part = [&](auto&& read) {
    const std::string problem = problem_in(read);
    if (!problem.empty()) run.notes.push_back("Left out: " + problem);
  };
  part([&] { run.curves = read_curves(folder.metrics()); });
  if (run.curves.damaged_rows > 0)
    run.notes.push_back(fmt::format("{} of metrics.jsonl cannot be read, and left out.",
                                    counted(run.curves.damaged_rows, "row")));
  if (run.curves.curves.empty() && run.notes.empty())
    run.notes.push_back("There are no curves: the run has written no metrics yet.");
  part([&] { read_sessions(run); });
  if (exists(folder.result()))
    part([&] { run.result = result_of(folder); });
  else
    run.notes.push_back("There are no scores: the run has not ended.");
  return run;
}

double last_step(const Curves& curves) {
  double last = 0;
  for (const Curve& curve : curves.curves) last = std::max(last, curve.steps.back());
  return last;
}

Json facts_of(const ReportedRun& run) {
  Json facts = Json::array();
  const auto add = [&](const char* label, const std::string& value) {
    Json fact = Json::array();
    fact.push(label);
    fact.push(value);
    facts.push(std::move(fact));
  };
  const Experiment& experiment = run.saved.config.experiment;
  add("steps",
      fmt::format("{} of {}", grouped(last_step(run.curves)), grouped(experiment.train.steps)));
  const auto number = [&](const char* name) {
    const Json* value = run.result.find(name);
    return value && value->is_number() ? value->number() : -1;
  };
  if (number("best_step") >= 0) add("best step", grouped(number("best_step")));
  if (number("parameters") >= 0) add("parameters", grouped(number("parameters")));
  if (number("seconds") >= 0) add("training time", logging::clock_text(number("seconds")));
  if (number("tokens_per_s") >= 0) add("tokens per second", grouped(number("tokens_per_s")));
  for (const auto& [name, value] : run.session) add(name.c_str(), value);
  add("data", experiment.data.kind->name);
  add("seed", std::to_string(experiment.seed));
  return facts;
}

Json settings_of(const ReportedRun& run) {
  Json settings = Json::array();
  for (const ConfigDifference& difference : changed_values(run.saved.config.experiment)) {
    const auto origin = run.set_in.find(difference.key);
    settings.push(Json::object()
                      .set("key", difference.key)
                      .set("value", difference.a)
                      .set("default", difference.b)
                      .set("set_in", origin == run.set_in.end() ? "" : origin->second));
  }
  return settings;
}

Json run_json(const ReportedRun& run) {
  const Experiment& experiment = run.saved.config.experiment;
  Json json = Json::object()
                  .set("name", run.saved.folder.path())
                  .set("state", name_of(run_state_names, state_of(run.saved.folder)))
                  .set("facts", facts_of(run))
                  .set("notes", run.notes)
                  .set("command", run.command)
                  .set("settings", settings_of(run))
                  .set("config", config_text(list_config(experiment)));
  if (!run.result.is_null()) json.set("result", run.result);
  return json;
}

// One chart for each curve, with a line for each run that has it. A single run has both losses in
// one.
std::vector<Chart> charts_of(const std::vector<ReportedRun>& runs) {
  std::vector<Chart> charts;
  for (size_t i = 0; i < runs.size(); ++i)
    for (const Curve& curve : runs[i].curves.curves) {
      if (!is_charted(curve.name)) continue;
      const bool single = runs.size() == 1, joins = single && curve.name == "val.loss";
      const std::string name = joins ? "loss" : curve.name;
      auto chart = std::ranges::find(charts, name, &Chart::name);
      if (chart == charts.end())
        chart = charts.insert(
            chart, Chart{single && name == "loss" ? "Loss" : curve_title(name), name, {}});
      chart->lines.push_back({single ? curve_title(curve.name) : runs[i].saved.folder.path(),
                              static_cast<int64_t>(single ? chart->lines.size() : i), curve});
    }
  return charts;
}

// The losses first, then other scores.
std::vector<Chart> ordered(std::vector<Chart> charts) {
  const auto to_front = [&](const auto& is_chosen) {
    std::stable_partition(charts.begin(), charts.end(), is_chosen);
  };
  to_front([](const Chart& c) { return c.name.starts_with("val."); });
  to_front([](const Chart& c) { return c.name == "val.loss"; });
  to_front([](const Chart& c) { return c.name == "loss"; });
  return charts;
}

// "statistics.GROUP.NAME.MEASURE": a chart for each group and measure, a line for each name.
std::vector<Chart> statistics_of(const ReportedRun& run) {
  std::vector<Chart> charts;
  for (const Curve& curve : run.curves.curves) {
    const size_t group = curve.name.find('.') + 1, name = curve.name.find('.', group) + 1,
                 measure = curve.name.rfind('.') + 1;
    if (!curve.name.starts_with("statistics.") || name == 0 || measure <= name) continue;
    const std::string chart_name =
        curve.name.substr(0, name) + curve.name.substr(measure);  // without the name
    auto chart = std::ranges::find(charts, chart_name, &Chart::name);
    if (chart == charts.end()) {
      const std::string title = fmt::format("{}: {}", curve.name.substr(group, name - 1 - group),
                                            curve.name.substr(measure));
      chart = charts.insert(chart, Chart{curve_title(title), chart_name, {}});
    }
    chart->lines.push_back({curve.name.substr(name, measure - 1 - name),
                            static_cast<int64_t>(chart->lines.size()), curve});
  }
  return charts;
}

Json charts_json(const std::vector<Chart>& charts) {
  size_t lines = 0;
  for (const Chart& chart : charts) lines += chart.lines.size();
  const size_t points =
      std::clamp<size_t>(max_points_in_all / std::max<size_t>(1, lines), 50, max_points);
  Json list = Json::array();
  for (const Chart& chart : charts) list.push(chart_json(chart, points));
  return list;
}

void add_one_run(const ReportedRun& run, const ReportRequest& request, Json& report) {
  report.set("charts", charts_json(ordered(charts_of({run}))))
      .set("statistics", charts_json(statistics_of(run)));
  if (request.details) report.set("details", details_of(run.saved, request.profile));
}

void add_several_runs(const std::vector<ReportedRun>& runs, Json& report) {
  std::vector<ScoredRun> scored;
  std::vector<std::pair<std::string, Curves>> curves;
  for (const ReportedRun& run : runs) {
    // A damaged result is in the notes.
    if (!run.result.is_null() || !exists(run.saved.folder.result()))
      scored.push_back(ScoredRun::load(run.saved.folder.path()));
    curves.emplace_back(run.saved.folder.path(), run.curves);
  }
  const RunGroups groups = group_runs(scored);
  if (!scored.empty()) report.set("sweep", sweep_json(groups, scored));
  report.set("charts",
             charts_json(ordered(groups.repeats_over_seeds() ? charts_of_groups(groups, curves)
                                                             : charts_of(runs))));
}

}  // namespace

Json report_data(const ReportRequest& request) {
  std::vector<ReportedRun> runs;
  for (const std::string& path : find_runs(request.paths)) runs.push_back(read_run(path));
  Json list = Json::array();
  for (const ReportedRun& run : runs) list.push(run_json(run));
  Json report = Json::object()
                    .set("title", request.paths.size() == 1 ? request.paths[0]
                                                            : fmt::format("{} runs", runs.size()))
                    .set("version", program_version)
                    .set("runs", std::move(list));
  if (runs.size() == 1)
    add_one_run(runs[0], request, report);
  else
    add_several_runs(runs, report);
  return report;
}

}  // namespace heed
