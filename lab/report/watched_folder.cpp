#include "lab/report/watched_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sys/stat.h>

#include "apps/support/clock.h"
#include "apps/support/digest.h"
#include "apps/support/files.h"
#include "apps/support/numbers.h"
#include "apps/training/metrics.h"
#include "apps/training/run_record.h"
#include "apps/training/saved_run.h"
#include "core/check.h"
#include "lab/experiments/curves.h"
#include "lab/experiments/groups.h"
#include "lab/experiments/points.h"
#include "lab/experiments/run_state.h"
#include "lab/report/report_data.h"
#include "lab/report/sweep_page.h"

namespace heed {

namespace {

constexpr double seconds_between_reads = 0.5;
constexpr double seconds_of_reading = 0.3;
constexpr size_t sparkline_points = 48, max_changed = 6, max_value = 40;
constexpr int64_t max_metrics = 16 << 20;  // bytes, for the points of a curve

// Time and size of a file; "" if there is none.
std::string signature_of_file(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return "";
  return fmt::format("{}:{}", modified_at(found), found.st_size);
}

std::string signature_of(const RunFolder& run, RunState state) {
  return fmt::format("{} {} {} {} {}", name_of(run_state_names, state),
                     signature_of_file(run.metrics()), signature_of_file(run.result()),
                     signature_of_file(run.config()), signature_of_file(run.record()));
}

// About every n-th row of the metrics, so that there are as many as the points of a curve.
std::string some_rows(const std::string& path) {
  const std::string text = read_file(path, "metrics file", max_metrics);
  const auto rows = static_cast<size_t>(std::ranges::count(text, '\n'));
  // Rows of evaluations have no training loss.
  const size_t every = std::max<size_t>(1, rows / (2 * sparkline_points));
  std::string some;
  for_each_row(text, [&](std::string_view row, int64_t line) {
    if (static_cast<size_t>(line) % every == 0) some.append(row) += '\n';
  });
  return some;
}

void add_curve(const RunFolder& run, Json& row) {
  if (!exists(run.metrics())) return;
  const Curves some = curves_of(some_rows(run.metrics()));
  const Curve* const loss = some.find("loss");
  if (!loss) return;
  Json x = Json::array(), y = Json::array();
  const size_t every = 1 + loss->steps.size() / sparkline_points;
  for (size_t i = loss->steps.size() - 1;; i -= every) {
    x.push(loss->steps[i]);
    y.push(six_digits(loss->values[i]));
    if (i < every) break;
  }
  row.set("x", std::move(x)).set("y", std::move(y));
}

// Adds where the run differs from the config that it was begun with: what a sweep or a command line
// set, and what the config itself sets where it has a base.
void add_changes(const RunFolder& run, const Experiment& experiment, Json& row) {
  const Json record = sessions_of(run);
  const Json& first = record.elements().front();
  const auto& command = first.at("command").elements();
  const std::string config = command.size() > 2 ? command[2].string() : "";
  if (!config.empty()) row.set("config", config);
  const auto is_of_config = [&](const std::string& origin) {
    return origin.starts_with(config + ":");
  };
  const auto& origins = first.at("set_in").members();
  const bool has_base = std::ranges::any_of(origins, [&](const Json::Member& each) {
    return each.second.string().find(".toml:") != std::string::npos &&
           !is_of_config(each.second.string());
  });
  const ConfigListing listing = list_config(experiment);
  std::vector<std::string> keys, values;
  for (const auto& [key, origin_json] : origins) {
    const std::string& origin = origin_json.string();
    const ConfigEntry* const entry = find_entry(listing, key);
    const bool differs = origin == "sweep" || origin == "command line" ||
                         origin.ends_with(" [set]") || (has_base && is_of_config(origin));
    if (!differs || !entry || !entry->changes_result() || keys.size() == max_changed) continue;
    keys.push_back(key);
    values.push_back(shortened(entry->text(), max_value));
  }
  Json changed = Json::array();
  for (size_t i = 0; i < keys.size(); ++i)
    changed.push(Json::array({key_names(keys)[i], values[i]}));
  row.set("changed", std::move(changed));
}

// `is_of_sweep`: its name says where it differs, and its config is read only for the time left.
Json row_of(const std::string& name, const RunFolder& run, RunState state, bool is_of_sweep) {
  Json row = Json::object().set("name", name).set("state", name_of(run_state_names, state));
  const Curves last = curves_of(last_metrics(run.metrics()));
  if (!last.curves.empty()) row.set("step", last.last_step());
  for (const auto& [member, score] :
       {std::pair("loss", "loss"), {"val_loss", "val.loss"}, {"seconds", "seconds"}})
    if (const Curve* curve = last.find(score)) row.set(member, curve->values.back());
  const auto part = [](auto&& read) {
    try {
      read();
    } catch (const Error&) {  // the page of the run says what is damaged
    }
  };
  part([&] {
    row.set("date", sessions_of(run).elements().back().at("start"));
    if (is_of_sweep && state != RunState::running) return;
    const Experiment experiment = SavedRun::open(run.path()).config.experiment;
    row.set("steps", experiment.train.steps);
    if (const auto left =
            state == RunState::running ? seconds_left(last, experiment.train.steps) : std::nullopt)
      row.set("left", *left);
    add_changes(run, experiment, row);
  });
  part([&] { add_curve(run, row); });
  return row;
}

Json sweep_row(const std::string& name, const std::string& folder,
               const std::vector<std::string>& runs) {
  SweepArguments arguments;
  arguments.path = sweep_file(folder);
  const Sweep plan = read_sweep(arguments);
  Json row = Json::object()
                 .set("name", name)
                 .set("question", plan.options.question)
                 .set("planned", planned_runs(std::ssize(runs), plan));
  std::vector<ScoredRun> scored = load_runs(runs);
  const SweepOrder order(plan);
  std::ranges::stable_sort(scored, {},
                           [&](const ScoredRun& run) { return order.rank(run.config); });
  if (!scored.empty()) add_groups(sweep_scores(scored), row);
  return row;
}

}  // namespace

std::vector<std::string> WatchedFolder::sweeps_of(const std::string& run) const {
  std::vector<std::string> sweeps;
  for (std::string folder = run; folder != ".";) {
    folder = folder_of(folder);
    if (exists(in_folder(path(folder), sweep_toml))) sweeps.push_back(folder);
  }
  return sweeps;
}

void WatchedFolder::read_runs(double end) {
  std::vector<std::string> paths;
  try {
    paths = is_run(folder_) ? std::vector{folder_} : runs_in(folder_);
  } catch (const Error&) {
    // There is no run yet, or the folder is gone.
  }
  Rows rows;
  for (const std::string& path : paths) {
    const std::string name = path.size() > folder_.size() ? path.substr(folder_.size() + 1) : ".";
    Row& row = rows[name];
    try {
      const RunFolder run = RunFolder::open(path);
      const RunState state = state_of(path);
      const std::string signature = signature_of(run, state);
      const auto known = runs_.find(name);
      if (known != runs_.end() && known->second.signature == signature)
        row = std::move(known->second);
      else if (now() < end)
        row = {signature, row_of(name, run, state, !sweeps_of(name).empty())};
      else
        row.json = Json::object().set("name", name).set("state", name_of(run_state_names, state));
    } catch (const Error&) {
      row = {"damaged", Json::object().set("name", name).set("state", "damaged")};
    }
  }
  runs_ = std::move(rows);
}

void WatchedFolder::read_sweeps(double end) {
  std::map<std::string, std::vector<std::string>> runs_of;  // names, by the sweep
  for (const auto& [name, row] : runs_)
    for (const std::string& sweep : sweeps_of(name)) runs_of[sweep].push_back(name);
  Rows rows;
  for (const auto& [name, runs] : runs_of) {
    // Changes when a run begins or ends.
    std::string signature = signature_of_file(in_folder(path(name), sweep_toml));
    std::vector<std::string> paths;
    for (const std::string& run : runs) {
      paths.push_back(path(run));
      signature += fmt::format(" {}:{}:{}", run, runs_[run].json.at("state").string(),
                               signature_of_file(in_folder(paths.back(), run_files::result)));
    }
    Row& row = rows[name];
    const auto known = sweeps_.find(name);
    if (known != sweeps_.end() && known->second.signature == signature) {
      row = std::move(known->second);
      continue;
    }
    row.json = Json::object().set("name", name);
    if (now() >= end) continue;
    row.signature = signature;
    try {
      row.json = sweep_row(name, path(name), paths);
    } catch (const Error&) {  // the page of the sweep says what is damaged
    }
  }
  sweeps_ = std::move(rows);
}

void WatchedFolder::refresh() {
  if (refreshed_ >= 0 && now() - refreshed_ < seconds_between_reads) return;
  const double end = now() + seconds_of_reading;
  read_runs(end);
  read_sweeps(end);
  refreshed_ = now();
}

Json WatchedFolder::rows() {
  const std::lock_guard lock(mutex_);
  refresh();
  const auto list = [](const Rows& rows) {
    return Json::list(rows, [](const auto& each) { return each.second.json; });
  };
  return Json::object().set("runs", list(runs_)).set("sweeps", list(sweeps_));
}

bool WatchedFolder::has(const std::string& name) {
  const std::lock_guard lock(mutex_);
  refresh();
  return runs_.contains(name) || sweeps_.contains(name);
}

std::string WatchedFolder::version(const std::vector<std::string>& names) {
  const std::lock_guard lock(mutex_);
  refresh();
  std::string text;
  const auto add = [&](const Rows& rows) {
    for (const auto& row : rows)
      if (names.empty() || std::ranges::any_of(names, [&](const std::string& each) {
            return each == row.first || each == "." || row.first.starts_with(each + "/");
          }))
        text += row.first + '\n' + row.second.signature + '\n';
  };
  add(runs_);
  add(sweeps_);
  return sha256(text);
}

}  // namespace heed
