#include "lab/report/run_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "apps/config/load_config.h"
#include "apps/support/numbers.h"
#include "apps/support/shell.h"
#include "core/joined.h"
#include "lab/experiments/curves.h"
#include "lab/experiments/score_kinds.h"

namespace heed {
namespace {

// Wilson's interval of the exact match among the scores of a split; null if they have none, or not
// what it counts.
Json exact_match_interval(const Scores& scores) {
  const double value = scores.find(scores::exact_match).value_or(NAN);
  const int64_t n = scores.examples.value_or(0);
  if (!(value >= 0 && value <= 1 && n >= 1)) return {};
  const auto [low, high] = wilson_interval(value, n);
  return Json::array({six_digits(low), six_digits(high)});
}

Json scores_json(const std::optional<TrainingResult>& result) {
  Json splits = Json::array();
  if (!result) return splits;  // not yet
  for (const auto& [split, scores] : result->splits) {
    Json list = Json::array();
    for (const Score* const score : scores::all)
      if (const auto value = scores.find(*score))
        list.push(Json::object()
                      .set("name", score->name)
                      .set("value", *value)
                      .set("fraction", score->maximum == 1));
    splits.push(Json::object()
                    .set("split", split)
                    .set("examples", scores.examples)
                    .set("interval", exact_match_interval(scores))
                    .set("scores", std::move(list)));
  }
  return splits;
}

Json changed_json(const ReportedRun& run) {
  Json rows = Json::array();
  for (const auto& [is, standard] : changed_values(run.saved.config.experiment)) {
    const auto origin = run.set_in.find(is.key);
    rows.push(Json::array(
        {is.key, is.text(), standard.text(), origin == run.set_in.end() ? "" : origin->second}));
  }
  return rows;
}

// The keys that say what the model is.
Json model_keys(const Experiment& experiment) {
  const ConfigListing all = list_config(experiment), standard = list_config(Experiment());
  Json rows = Json::array();
  for (const char* key : {"model.kind", "model.layers", "model.dim", "model.heads"}) {
    const ConfigEntry &is = *find_entry(all, key), &usual = *find_entry(standard, key);
    rows.push(Json::array({key, is.text(), is.has_value_of(usual) ? "" : usual.text()}));
  }
  return rows;
}

Json time_json(const Profile& profile) {
  const auto row = [](const std::string& name, double forward, double backward) {
    return Json::array({name, six_digits(forward), six_digits(backward)});
  };
  Json layers = Json::array(), operations = Json::array();
  for (const LayerRow& layer : profile.layers)
    layers.push(row(layer.name, layer.forward.seconds, layer.backward.seconds));
  std::map<std::string, std::pair<double, double>> by_name;
  for (const ProfileRow& each : profile.forward) by_name[each.name].first = each.seconds;
  for (const auto* rows : {&profile.backward, &profile.rest})
    for (const ProfileRow& each : *rows) by_name[each.name].second += each.seconds;
  for (const auto& [name, seconds] : by_name)
    operations.push(row(name, seconds.first, seconds.second));
  return Json::object()
      .set("seconds", profile.seconds)
      .set("layers", std::move(layers))
      .set("operations", std::move(operations));
}

// Adds what needs the model and the data of the run.
void add_details(const Details& details, Json& data) {
  data.set("step", details.step)
      .set("split", details.split)
      .set("data", details.data)
      .set("details", details.notes)
      .set("layers", details.model)
      .set("samples", details.samples)
      .set("lengths", details.lengths)
      .set("positions", details.positions)
      .set("attention", details.attention);
  if (details.guess > 0) data.set("guess", details.guess).set("choices", details.choices);
  if (!details.errors.is_null()) data.set("errors", details.errors);
  if (!details.confusion.is_null()) data.set("confusion", details.confusion);
  if (details.profile) data.set("time", time_json(*details.profile));
}

}  // namespace

Json run_json(const ReportedRun& run) {
  Json json = Json::object()
                  .set("name", run.name())
                  .set("state", name_of(run_state_names, run.state))
                  .set("step", run.curves.last_step())
                  .set("steps", run.saved.config.experiment.train.steps)
                  .set("scores", scores_json(run.result))
                  .set("changed", changed_json(run))
                  .set("notes", run.notes);
  if (const auto left = seconds_left(run)) json.set("left", *left);
  return json;
}

Json run_page_data(const Report& report) {
  const ReportedRun& run = report.runs[0];
  const Experiment& experiment = run.saved.config.experiment;
  Json trained = Json::object(), commands = Json::object(), checkpoints = Json::array();
  if (run.result)
    TrainingResult::visit_run(*run.result, [&](const char* name, const auto& number) {
      if (number) trained.set(name, *number);
    });
  if (!run.command.empty()) commands.set("trained", run.command);
  if (run.state == RunState::done)
    commands.set("again", heed_command({"train", "--from", run.name()}))
        .set("use", heed_command({"evaluate", run.name()}));
  for (const int64_t step : Checkpoints(run.saved.folder.checkpoints(), 1).steps())
    checkpoints.push(step);
  Json machine = run.session;
  machine.push(Json::array({"precision", name_of(precision_names, experiment.precision)}));
  Json data = Json::object()
                  .set("page", "run")
                  .set("run", run_json(run))
                  .set("task", experiment.data.kind->name)
                  .set("seed", experiment.seed)
                  .set("started", run.started)
                  .set("best_by", experiment.train.best_by->title)
                  .set("trained", std::move(trained))
                  .set("model", model_keys(experiment))
                  .set("machine", std::move(machine))
                  .set("record", run.record)
                  .set("commands", std::move(commands))
                  .set("keys", config_text(list_config(experiment)))
                  .set("curves", Json::array(report.charts))
                  .set("statistics", Json::array(report.statistics))
                  .set("checkpoints", std::move(checkpoints))
                  .set("clip", experiment.optim.clip_norm);
  if (const Curve* const loss = run.curves.find("loss")) data.set("loss", loss->values.back());
  if (run.result && run.result->best_step) data.set("best", *run.result->best_step);
  if (report.details) add_details(*report.details, data);
  return data;
}

std::vector<Table::Row> facts_of_run(const ReportedRun& run) {
  std::vector<Table::Row> rows = {
      {run.name(),
       fmt::format("{}, {}, step {}", name_of(run_state_names, run.state),
                   run.saved.config.experiment.data.kind->name, grouped(run.curves.last_step()))}};
  for (const std::string& note : run.notes) rows.push_back({"", note});
  if (!run.result) return rows;
  for (const auto& [split, scores] : run.result->splits) {
    std::vector<std::string> words;
    for (const Score* const score : scores::all)
      if (const auto number = scores.find(*score); number && std::isfinite(*number))
        words.push_back(fmt::format("{} {}", score->name, four_digits(*number)));
    rows.push_back({split, joined(words)});
  }
  return rows;
}

}  // namespace heed
