#include "lab/report/sweep_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/support/numbers.h"
#include "apps/support/shell.h"
#include "lab/experiments/cells.h"
#include "lab/experiments/score_kinds.h"
#include "lab/experiments/verdict.h"
#include "lab/report/run_page.h"

namespace heed {
namespace {

// --- Differences.

Json row_json(const Comparison& each, const Effects& effects) {
  return Json::object()
      .set("pairs", static_cast<int64_t>(each.seeds.size()))
      .set("size", six_digits(each.effect.size))
      .set("low", six_digits(each.effect.interval.low))
      .set("high", six_digits(each.effect.interval.high))
      .set("p", each.adjusted_p)
      .set("flipped_p", each.flipped_p())
      .set("verdict", name_of(verdict_names, verdict_of(each, effects)))
      .set("text", verdict_text(each, effects));
}

Json differences_json(const SweepScores& sweep) {
  const Effects& effects = sweep.effects;
  const SeedGroups& groups = sweep.groups;
  Json tables = Json::array();
  const auto add = [&](const char* of, Json rows) {
    if (rows.elements().empty()) return;
    tables.push(Json::object()
                    .set("of", of)
                    .set("first", name_of_group(groups, effects.first))
                    .set("rows", std::move(rows)));
  };
  const auto named = [&](const auto& keys) {
    return Json::list(keys, [&](const std::string& key) {
      const auto at = std::ranges::find(groups.varying, key) - groups.varying.begin();
      return key_names(groups.varying)[static_cast<size_t>(at)];
    });
  };
  Json of_keys = Json::array(), of_two = Json::array(), of_groups = Json::array();
  for (const KeyEffects& key : effects.keys)
    for (const KeyEffects::Value& value : key.values)
      of_keys.push(row_json(value, effects)
                       .set("keys", named(key.keys))
                       .set("values", value.values)
                       .set("instead", key.first));
  const Interactions& two = effects.interactions;
  const auto list = [](const auto& pair) {
    return std::vector<std::string>(pair.begin(), pair.end());
  };
  for (const Interaction& each : two.values)
    of_two.push(row_json(each, effects)
                    .set("keys", named(two.keys))
                    .set("values", list(each.values))
                    .set("instead", list(each.against)));
  for (const GroupComparison& each : effects.groups)
    of_groups.push(row_json(each, effects)
                       .set("name", name_of_group(groups, each.group))
                       .set("values", groups.groups[each.group].values)
                       .set("instead", groups.groups[each.against].values));
  add("keys", std::move(of_keys));
  add("interaction", std::move(of_two));
  add("groups", std::move(of_groups));
  return Json::object()
      .set("log", effects.by_ratio)
      .set("none", effects.no_effect())
      .set("points", effects.largest == 1)
      .set("lower", lower_is_better(effects.score))
      .set("shown", groups.repeats_over_seeds() || effects.any())
      .set("tables", std::move(tables));
}

// Returns two numbers of seeds: those that the answers of a page have, and those that may show what
// they leave open: three instead of one, or twice as many, so that intervals become about 1/√2 as
// wide. The numbers are equal if no answer is open.
std::pair<int64_t, int64_t> seeds_to_tell(const Effects& effects) {
  int64_t seeds = 0, needed = 0;
  const auto look_at = [&](const Comparison& each) {
    const int64_t pairs = std::ssize(each.seeds);
    seeds = std::max(seeds, pairs);
    const Verdict verdict = verdict_of(each, effects);
    if (pairs > 0 && (verdict == Verdict::few || verdict == Verdict::open))
      needed = std::max(needed, pairs == 1 ? 3 : 2 * pairs);
  };
  for (const KeyEffects& key : effects.keys) std::ranges::for_each(key.values, look_at);
  std::ranges::for_each(effects.groups, look_at);
  return {seeds, std::max(seeds, needed)};
}

// Returns a command that trains more seeds of each group, and how many; null if the seeds suffice.
// It adds the seeds to a sweep. Other runs get neighbours with their config.
Json more_seeds(const Report& report) {
  const SweepScores& sweep = *report.sweep;
  const auto [told, needed] = seeds_to_tell(sweep.effects);
  int64_t seeds = told;  // or more, where runs still train
  if (std::ranges::count_if(report.runs, has_ended) < planned_runs(report)) {
    if (report.plan) seeds = std::max<int64_t>(seeds, std::ssize(report.plan->options.seeds));
    for (const SeedGroup& group : sweep.groups.groups)
      seeds = std::max<int64_t>(seeds, std::ssize(group.runs));
  }
  const int64_t more = needed - seeds;
  if (more <= 0) return {};
  auto groups = static_cast<double>(sweep.groups.groups.size());
  std::string command;
  if (report.plan) {
    const SweepOptions& options = report.plan->options;
    const auto [first, last] = std::ranges::minmax(options.seeds);
    const bool whole = last - first + 1 == std::ssize(options.seeds);
    groups = point_count(*report.plan);
    std::vector<std::string> words = {
        "sweep", report.sweep_folder, "--seeds",
        whole && first == 1 ? std::to_string(last + more)
                            : fmt::format("{}-{}", whole ? first : last + 1, last + more)};
    const double runs =
        groups * static_cast<double>(whole ? std::ssize(options.seeds) + more : more);
    if (runs > static_cast<double>(options.max_runs))
      words.insert(words.end(), {"--max-runs", fmt::format("{:.0f}", runs)});
    command = heed_command(words);
  } else {
    std::string runs, numbers;
    int64_t last = 0;
    for (const SeedGroup& group : sweep.groups.groups) {
      runs += " " + shell_word(group.runs[0].folder.path());
      for (const ScoredRun& run : group.runs) last = std::max(last, run.seed);
    }
    for (int64_t seed = last + 1; seed <= last + more; ++seed) numbers += fmt::format(" {}", seed);
    command = fmt::format(
        "for run in{}; do for seed in{}; do {} \"$run/config.toml\" --set seed=$seed --run "
        "\"$run-seed-$seed\"; done; done",
        runs, numbers, heed_command({"train"}));
  }
  return Json::object()
      .set("seeds", more)
      .set("runs", static_cast<int64_t>(groups) * more)
      .set("command", command);
}

// --- Groups.

std::vector<std::string> values_of_key(const SeedGroups& groups, size_t key) {
  std::vector<std::string> values;
  for (const SeedGroup& group : groups.groups)
    if (std::ranges::find(values, group.values[key]) == values.end())
      values.push_back(group.values[key]);
  std::ranges::stable_sort(values, [](const std::string& a, const std::string& b) {
    const std::optional<double> x = number_of_text(a), y = number_of_text(b);
    return x && y ? *x < *y : x.has_value() && !y.has_value();
  });
  return values;
}

Json groups_json(const SweepScores& sweep, const std::vector<std::string>& columns) {
  const SeedGroups& groups = sweep.groups;
  Json list = Json::array();
  for (const size_t i : sweep.best_first) {
    const SeedGroup& group = groups.groups[i];
    const auto style = style_of_group(groups, i);
    Json seeds = Json::array(), others = Json::array();
    for (const ScoredRun& run : group.runs)
      if (const auto value = run.number(sweep.score()))
        seeds.push(Json::object().set("seed", run.seed).set("value", six_digits(*value)));
    for (const std::string& score : columns) {
      const auto mean = drawn_mean(groups, i, score);
      others.push(mean ? Json(six_digits(mean->mean)) : Json());
    }
    Json json = Json::object()
                    .set("name", name_of_group(groups, i))
                    .set("values", group.values)
                    .set("colour", style.first)
                    .set("dash", style.second)
                    .set("count", count_text(group, sweep.score()))
                    .set("seeds", std::move(seeds))
                    .set("others", std::move(others));
    if (const auto mean = drawn_mean(groups, i, sweep.score())) {
      json.set("mean", six_digits(mean->mean)).set("n", mean->n);
      if (std::isfinite(mean->half_width))
        json.set("low", six_digits(mean->interval.low))
            .set("high", six_digits(mean->interval.high));
    }
    list.push(std::move(json));
  }
  return list;
}

// Adds what only the page of runs in groups says of them.
void add_answers(const Report& report, Json& data) {
  const SweepScores& sweep = *report.sweep;
  const SeedGroups& groups = sweep.groups;
  if (!report.target.is_null()) data.set("target", report.target);
  data.set("chosen_by", sweep.chosen_by)
      .set("chosen_lower", lower_is_better(sweep.chosen_by))
      .set("interval", title_of("95 % interval", groups.interval_kind(sweep.score())))
      .set("repeats_over_seeds", groups.repeats_over_seeds())
      .set("repeats", groups.repeats)
      .set("failures", groups.failures())
      .set("warnings", warnings_of(sweep.effects, groups))
      .set("more", more_seeds(report));
}

// --- All runs.

std::string score_of(const Report& report) {
  return report.sweep ? report.sweep->score() : "val.loss";
}

std::optional<double> last_of(const ReportedRun& run, const std::string& name) {
  std::optional<double> value;
  if (run.result)
    run.result->visit([&](const std::string& each, auto number) {
      if (each == name) value = static_cast<double>(number);
    });
  if (value && std::isfinite(*value)) return value;
  const Curve* const curve = run.curves.find(name);
  return curve ? std::optional(curve->values.back()) : std::nullopt;
}

Json runs_json(const Report& report) {
  Json list = Json::array();
  for (const ReportedRun& run : report.runs) {
    Json json = run_json(run).set("value", last_of(run, score_of(report)));
    if (run.state == RunState::running || (run.result && run.result->seconds))
      json.set("seconds", last_of(run, "seconds"));
    list.push(std::move(json));
  }
  return list;
}

}  // namespace

void add_groups(const SweepScores& sweep, Json& data) {
  const SeedGroups& groups = sweep.groups;
  std::vector<std::string> others(sweep.names.begin() + 1, sweep.names.end());
  std::stable_partition(others.begin(), others.end(),
                        [](const std::string& name) { return name.ends_with("exact_match"); });
  Json keys = Json::array(), columns = Json::array();
  for (size_t k = 0; k < groups.varying.size(); ++k)
    keys.push(Json::object()
                  .set("key", groups.varying[k])
                  .set("name", key_names(groups.varying)[k])
                  .set("values", values_of_key(groups, k)));
  for (const std::string& name : others)
    columns.push(Json::object().set("name", name).set("fraction", maximum_of(name) == 1));
  data.set("score", sweep.score())
      .set("lower", lower_is_better(sweep.score()))
      .set("fraction", maximum_of(sweep.score()) == 1)
      .set("log", sweep.by_ratio)
      .set("keys", std::move(keys))
      .set("columns", std::move(columns))
      .set("groups", groups_json(sweep, others))
      .set("differences", differences_json(sweep));
}

Json sweep_page_data(const Report& report) {
  const std::string score = score_of(report);
  Json data = Json::object()
                  .set("page", "runs")
                  .set("planned", planned_runs(report))
                  .set("runs", runs_json(report))
                  .set("score", score)
                  .set("lower", lower_is_better(score))
                  .set("fraction", maximum_of(score) == 1)
                  .set("curves", Json::array(report.charts));
  if (const auto left = seconds_left(report)) data.set("left", *left);
  if (report.plan)
    data.set("plan", Json::object()
                         .set("question", report.plan->options.question)
                         .set("folder", report.sweep_folder)
                         .set("command", heed_command({"sweep", report.sweep_folder})));
  if (report.sweep) {
    add_groups(*report.sweep, data);
    add_answers(report, data);
  } else if (!report.run_table.rows.empty()) {
    Json rows = Json::array();
    for (const Table::Row& row : report.run_table.rows) rows.push(row);
    data.set("table", std::move(rows));
  }
  return data;
}

std::vector<Table::Row> facts_of_runs(const Report& report) {
  const auto done = std::ranges::count(report.runs, RunState::done, &ReportedRun::state);
  std::vector<Table::Row> rows = {
      {fmt::format("{} of {} done", done, counted(planned_runs(report), "run"))}};
  const std::string score = score_of(report);
  const auto add = [&](const std::string& name, const std::optional<double>& value) {
    rows.push_back({name, value ? fmt::format("{} {}", score, four_digits(*value)) : ""});
  };
  if (report.sweep) {
    for (const size_t i : report.sweep->best_first) {
      const auto mean = drawn_mean(report.sweep->groups, i, score);
      add(name_of_group(report.sweep->groups, i), mean ? std::optional(mean->mean) : std::nullopt);
    }
    return rows;
  }
  for (const ReportedRun& run : report.runs) add(run.name(), last_of(run, score));
  return rows;
}

}  // namespace heed
