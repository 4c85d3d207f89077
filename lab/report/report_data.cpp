#include "lab/report/report_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "apps/support/files.h"
#include "apps/support/names.h"
#include "apps/support/numbers.h"
#include "apps/training/run_record.h"
#include "lab/experiments/group_curves.h"
#include "lab/experiments/run_table.h"
#include "lab/report/charts.h"
#include "lab/report/figure.h"
#include "lab/report/kind_figure.h"

namespace heed {

namespace {

constexpr size_t max_points_in_all =
    60'000;  // of a report: about 1 MB; a point of a band counts twice

// Reads how the run began, and where and when it was trained last.
void read_sessions(ReportedRun& run) {
  const Json record = sessions_of(run.saved.folder);
  const auto& sessions = record.elements();
  for (const Json& word : sessions.front().at("command").elements())
    run.command += (run.command.empty() ? "" : " ") + word.string();
  for (const auto& [key, origin] : sessions.front().at("set_in").members())
    run.set_in[key] = origin.string();
  const Json& last = sessions.back();
  std::string start = last.at("start").string().substr(0, 16);  // without seconds
  std::ranges::replace(start, 'T', ' ');
  run.started = fmt::format("{} UTC, heed {}", start, last.at("heed").string());
  const auto add = [](Json& list, const char* label, const std::string& value) {
    list.push(Json::array({label, value}));
  };
  add(run.session, "processor",
      fmt::format("{}, {}", last.at("processor").string(),
                  counted(last.at("threads").integer(), "thread")));
  double peak = 0, cpu = 0;
  for (const Json& session : sessions) {
    peak = std::max(peak, session.find_number("peak_rss_mb").value_or(0));
    cpu += session.find_number("cpu_seconds").value_or(0);
  }
  if (peak > 0) add(run.session, "memory, peak", fmt::format("{:.0f} MiB", peak));
  const Experiment& experiment = run.saved.config.experiment;
  const ConfigListing now = list_config(experiment);
  for (const ConfigDifference& d :
       config_differences(config_with_changes(segments_of(run.saved.folder, experiment)), now))
    run.notes.push_back(
        fmt::format("The run was resumed with another {}: {}.", d.a.key, d.a.text()));
  for (const char* name : {"commit", "data", "compiler", "flags", "blas"})
    if (const Json* const value = last.find(name); value && !value->string().empty())
      add(run.record, name, value->string());
  if (cpu > 0) add(run.record, "processor time", fmt::format("{:.1f} s", cpu));
}

ReportedRun read_run(const std::string& path) {
  ReportedRun run{SavedRun::open(path), state_of(path)};
  const RunFolder& folder = run.saved.folder;
  const auto part = [&](auto&& read) { note_failure(run.notes, "Left out", read); };
  part([&] { run.curves = read_curves(folder.metrics()); });
  if (run.curves.damaged_rows > 0)
    run.notes.push_back(fmt::format("{} of metrics.jsonl cannot be read, and left out.",
                                    counted(run.curves.damaged_rows, "row")));
  if (run.state == RunState::failed)
    part([&] { run.notes.push_back("The run failed: " + error_of(path)); });
  else if (run.curves.curves.empty() && run.notes.empty())
    run.notes.push_back("There are no curves: the run has written no metrics yet.");
  part([&] { read_sessions(run); });
  part([&] { run.result = read_result(folder); });
  if (run.state != RunState::failed && !exists(folder.result()))
    run.notes.push_back("There are no scores: the run has not ended.");
  return run;
}

// One chart for each curve, with a line for each run that has it.
std::vector<Chart> charts_of_runs(const std::vector<ReportedRun>& runs) {
  std::vector<Chart> charts;
  for (size_t i = 0; i < runs.size(); ++i)
    for (const Curve& curve : runs[i].curves.curves)
      if (is_charted(curve.name))
        chart_named(charts, curve.name, curve_title(curve.name))
            .lines.push_back({runs[i].name(), static_cast<int64_t>(i), curve});
  return charts;
}

constexpr const char* by_group = "[]";  // ends the name of a chart of all groups

// The same, but a single run has both losses in one chart, and all groups of examples.
std::vector<Chart> charts_of(const std::vector<ReportedRun>& runs) {
  if (runs.size() != 1) return charts_of_runs(runs);
  std::vector<Chart> charts;
  for (const Curve& curve : runs[0].curves.curves) {
    if (!is_charted(curve.name)) continue;
    const std::string whole = without_group(curve.name);
    const bool is_of_group = whole != curve.name;
    const std::string name = is_of_group                ? whole + by_group
                             : curve.name == "val.loss" ? "loss"
                                                        : curve.name;
    const std::string title = is_of_group      ? curve_title(whole) + " by group"
                              : name == "loss" ? "Loss"
                                               : curve_title(name);
    std::vector<ChartLine>& lines = chart_named(charts, name, title).lines;
    const std::string label =
        is_of_group ? curve.name.substr(whole.size() + 1, curve.name.size() - whole.size() - 2)
                    : curve_title(curve.name);
    // Training's first, whichever was written first.
    lines.insert(curve.name == "loss" ? lines.begin() : lines.end(),
                 {label, static_cast<int64_t>(lines.size()), curve});
  }
  return charts;
}

// Adds the best possible value of each loss: by how much the runs are above it, at their last
// evaluation.
void add_best(std::vector<Chart>& charts, const std::vector<ReportedRun>& runs) {
  for (Chart& chart : charts)
    for (const ChartLine& line : chart.lines) {
      if (chart.best || !line.curve.name.ends_with(".loss")) continue;
      double sum = 0, count = 0;
      for (const ReportedRun& run : runs) {
        const Curve *const loss = run.curves.find(line.curve.name), *const above = run.curves.find(
                                                                        line.curve.name +
                                                                        "_above_best");
        if (!loss || !above || loss->steps.back() != above->steps.back()) continue;
        sum += loss->values.back() - above->values.back();
        ++count;
      }
      if (count > 0) chart.best = std::abs(sum / count) < 1e-9 ? 0 : sum / count;
    }
}

// The losses first, then other scores of the whole model.
std::vector<Chart> ordered(std::vector<Chart> charts) {
  std::erase_if(charts, [](const Chart& c) {
    return is_of_part(c.name) || c.name == "val.perplexity" ||  // that of the loss says the same
           (without_group(c.name) != c.name && !c.name.ends_with(by_group));
  });
  const auto to_front = [&](const auto& is_chosen) {
    std::stable_partition(charts.begin(), charts.end(), is_chosen);
  };
  to_front([](const Chart& c) { return c.name.starts_with("val."); });
  to_front([](const Chart& c) { return c.name == "val.loss"; });
  to_front([](const Chart& c) { return c.name == "loss"; });
  return charts;
}

// The part of the model that a parameter belongs to, in words: "decoder attention", "norms".
std::string part_of(const std::string& parameter) {
  const std::string stack = parameter.substr(0, parameter.find('.'));
  for (const auto& [inside, words] :
       {std::pair("norm", "norms"), {".cross_attention.", "cross-attention"}})
    if (parameter.find(inside) != parameter.npos) return words;
  for (const auto& [inside, words] :
       {std::pair(".attention.", " attention"), {".feed_forward.", " feed-forward"}})
    if (parameter.find(inside) != parameter.npos) return stack + words;
  return stack;
}

// The norms of the parts of a model from those of their parameters. An update is relative to the
// weight.
std::vector<Chart> norms_of_parts(const Curves& curves) {
  constexpr std::string_view prefix = "statistics.parameters.";
  struct Sums {
    std::map<double, double> weight, gradient, update;  // squares by step
  };
  std::map<std::string, Sums> parts;
  std::vector<std::string> names;
  for (const Curve& curve : curves.curves) {
    if (!curve.name.starts_with(prefix) || !curve.name.ends_with(".weight")) continue;
    const std::string parameter =
        curve.name.substr(prefix.size(), curve.name.rfind('.') - prefix.size());
    const std::string part = part_of(parameter), base = std::string(prefix) + parameter;
    const Curve *const gradient = curves.find(base + ".gradient"), *const update = curves.find(
                                                                       base + ".update");
    if (!gradient || !update || gradient->steps != curve.steps || update->steps != curve.steps)
      continue;
    if (std::ranges::find(names, part) == names.end()) names.push_back(part);
    Sums& sums = parts[part];
    const auto square = [](double x) { return x * x; };
    for (size_t i = 0; i < curve.steps.size(); ++i) {
      const double step = curve.steps[i];
      sums.weight[step] += square(curve.values[i]);
      sums.gradient[step] += square(gradient->values[i]);
      sums.update[step] += square(update->values[i] * curve.values[i]);
    }
  }
  std::vector<Chart> charts;
  for (size_t i = 0; i < names.size(); ++i) {
    Curve weight, gradient, update;
    const Sums& sums = parts[names[i]];
    for (const auto& [step, square] : sums.weight) {
      const double norm = std::sqrt(square);
      for (Curve* const curve : {&weight, &gradient, &update}) curve->steps.push_back(step);
      weight.values.push_back(norm);
      gradient.values.push_back(std::sqrt(sums.gradient.at(step)));
      update.values.push_back(norm > 0 ? std::sqrt(sums.update.at(step)) / norm : 0);
    }
    const auto place = [&](const char* name, const char* title, Curve curve) {
      chart_named(charts, name, title)
          .lines.push_back({names[i], static_cast<int64_t>(i), std::move(curve)});
    };
    place("norm.weight", "‖w‖, weights", std::move(weight));
    place("norm.gradient", "‖g‖, gradient", std::move(gradient));
    place("norm.update", "‖Δw‖ / ‖w‖, change by a step", std::move(update));
  }
  return charts;
}

// "statistics.GROUP.NAME.MEASURE", or "GROUP.NAME.MEASURE" of train.measures: a chart for each
// group and measure, a line for each name. Parameters are summed up by parts.
std::vector<Chart> statistics_of(const ReportedRun& run) {
  constexpr std::string_view statistics = "statistics.";
  std::vector<Chart> charts = norms_of_parts(run.curves);
  for (const Curve& curve : run.curves.curves) {
    const size_t group = curve.name.starts_with(statistics) ? statistics.size() : 0,
                 name = curve.name.find('.', group) + 1, measure = curve.name.rfind('.') + 1;
    if (!is_of_part(curve.name) || name == 0 || measure <= name) continue;
    if (curve.name.starts_with("statistics.parameters.")) continue;  // in norms_of_parts()
    const std::string chart_name =
        curve.name.substr(0, name) + curve.name.substr(measure);  // without the name
    const std::string title = fmt::format("{}: {}", curve.name.substr(group, name - 1 - group),
                                          curve.name.substr(measure));
    std::vector<ChartLine>& lines = chart_named(charts, chart_name, curve_title(title)).lines;
    lines.push_back(
        {curve.name.substr(name, measure - 1 - name), static_cast<int64_t>(lines.size()), curve});
  }
  return charts;
}

// The charts whose names match, those of the first pattern first.
std::vector<const Chart*> charts_named(const std::vector<Chart>& charts,
                                       const std::vector<std::string>& patterns) {
  std::vector<const Chart*> chosen;
  for (const std::string& pattern : patterns) {
    bool any = false;
    for (const Chart& chart : charts) {
      if (!matches_any(chart.name, {pattern})) continue;
      any = true;
      if (std::ranges::find(chosen, &chart) == chosen.end()) chosen.push_back(&chart);
    }
    if (any) continue;
    std::vector<std::string> names;
    for (const Chart& chart : charts) names.push_back(chart.name);
    throw_no_curve(pattern, names);
  }
  return chosen;
}

std::vector<Json> charts_json(const std::vector<Chart>& charts) {
  size_t lines = 0;
  for (const Chart& chart : charts)
    for (const ChartLine& line : chart.lines)
      lines += (line.low.empty() ? 1 : 2) + line.seeds.size() / 4;
  const size_t points =
      std::clamp<size_t>(max_points_in_all / std::max<size_t>(1, lines), 50, max_points);
  std::vector<Json> list;
  for (const Chart& chart : charts) list.push_back(chart_json(chart, points));
  return list;
}

// Adds the statistics of several runs. Returns the charts of their curves.
std::vector<Chart> add_sweep(Report& report, const ReportRequest& request) {
  std::vector<ScoredRun> scored;
  std::vector<std::pair<std::string, Curves>> curves;
  for (ReportedRun& run : report.runs) {
    // A damaged result is in the notes.
    if (run.result || !exists(run.saved.folder.result()))
      note_failure(run.notes, "Left out of the statistics",
                   [&] { scored.push_back(ScoredRun::load(run.name())); });
    curves.emplace_back(run.name(), run.curves);
  }
  if (scored.empty()) return charts_of(report.runs);
  const std::vector<std::string> all = score_names(scored);
  if (!request.score.empty()) check_has_score("--score", all, request.score);
  for (const std::string& name : request.columns) check_has_score("--columns", all, name);
  if (request.by_run) {
    report.run_table = rows_of_runs(scored, request.columns.empty() ? all : request.columns,
                                    {.target = request.target});
    return charts_of(report.runs);
  }
  report.sweep = sweep_scores(scored, request.score, request.columns);
  const SeedGroups& groups = report.sweep->groups;
  if (request.target)
    report.target = arrivals_json(groups, report.sweep->best_first, *request.target);
  return groups.repeats_over_seeds() ? charts_of_groups(groups, curves) : charts_of(report.runs);
}

// Returns the folder of the sweep that a path is, or that it is a run of; "" if there is none.
std::string sweep_folder(const std::string& path) {
  for (const char* up : {"", "..", "../.."}) {
    const std::string folder = *up ? in_folder(path, up) : path;
    if (exists(in_folder(folder, sweep_toml))) return absolute_path(folder, ".");
  }
  return "";
}

// Adds the sweep that all runs are of.
void add_plan(Report& report, const std::string& path) {
  const std::string folder = sweep_folder(report.runs[0].name());
  for (const ReportedRun& run : report.runs)
    if (folder.empty() || sweep_folder(run.name()) != folder) return;
  note_failure(report.runs[0].notes, "What the sweep asks is left out", [&] {
    SweepArguments arguments;
    arguments.path = sweep_file(folder);
    report.plan = read_sweep(arguments);
    report.sweep_folder = exists(in_folder(path, sweep_toml)) ? path : folder;
  });
}

}  // namespace

int64_t planned_runs(int64_t begun, const Sweep& sweep) {
  return std::max<int64_t>(
      begun, static_cast<int64_t>(point_count(sweep)) * std::ssize(sweep.options.seeds));
}

int64_t planned_runs(const Report& report) {
  const auto runs = std::ssize(report.runs);
  return report.plan ? planned_runs(runs, *report.plan) : runs;
}

std::optional<double> seconds_left(const Curves& metrics, int64_t last_step) {
  const Curve* const seconds = metrics.find("seconds");
  if (!seconds || seconds->steps.back() <= 0) return std::nullopt;
  const double done = seconds->steps.back(), all = static_cast<double>(last_step);
  return std::max(0.0, seconds->values.back() / done * (all - done));
}

std::optional<double> seconds_left(const ReportedRun& run) {
  if (run.state != RunState::running) return std::nullopt;
  return seconds_left(run.curves, run.saved.config.experiment.train.steps);
}

std::optional<double> seconds_left(const Report& report) {
  if (report.plan && report.plan->options.method == SweepMethod::halving) return std::nullopt;
  double left = 0, longest = 0, ended = 0, trained = 0, running = 0;
  for (const ReportedRun& run : report.runs) {
    const Curve* const seconds = run.curves.find("seconds");
    ended += has_ended(run);
    trained += seconds ? seconds->values.back() : 0;
    if (const std::optional<double> each = seconds_left(run)) {
      ++running;
      left += *each;
      longest = std::max(longest, *each);
    }
  }
  if (running == 0) return std::nullopt;
  // Those that wait take as long as the others on average.
  const double waiting = static_cast<double>(planned_runs(report)) - ended - running;
  left += waiting * (trained + left) / (ended + running);
  return std::max(longest, left / running);
}

Report report_data(const ReportRequest& request) {
  Report report;
  report.runs = of_undamaged(find_runs(request.paths), read_run);
  report.title =
      request.paths.size() == 1 ? request.paths[0] : fmt::format("{} runs", report.runs.size());
  check_input((request.split.empty() && !request.positions) || report.runs.size() == 1,
              "--split and --positions are for the page of one run, which has samples and errors");
  if (report.runs.size() > 1) {
    add_plan(report, request.paths[0]);
    std::vector<Chart> charts = ordered(add_sweep(report, request));
    add_best(charts, report.runs);
    report.charts = charts_json(charts);
    return report;
  }
  check_input(
      request.score.empty() && request.columns.empty() && !request.target,
      "--score, --columns and --target are for the page of several runs; that of one shows all "
      "scores");
  const ReportedRun& run = report.runs[0];
  std::vector<Chart> charts = ordered(charts_of(report.runs));
  add_best(charts, report.runs);
  report.charts = charts_json(charts);
  report.statistics = charts_json(statistics_of(run));
  if (request.details)
    report.details = details_of(run.saved, {request.split, request.positions, request.profile});
  return report;
}

std::string figure_of(const FigureRequest& request) {
  if (!request.kinds.by.empty()) return figure_of_kinds(request);
  Report report;
  report.runs = of_undamaged(find_runs(request.paths), read_run);
  std::vector<Chart> charts = report.runs.size() == 1 || request.by_run
                                  ? charts_of_runs(report.runs)
                                  : add_sweep(report, {.paths = request.paths});
  add_best(charts, report.runs);
  std::vector<std::string> patterns = request.scores;
  if (patterns.empty())
    patterns = {fmt::format("val.{}", report.runs[0].saved.config.experiment.train.best_by->name)};
  return figure_svg(panels_of(charts_named(charts, patterns)), {.log = request.log_x},
                    band_of_seeds);
}

}  // namespace heed
