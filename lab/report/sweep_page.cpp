#include "lab/report/sweep_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/support/log.h"
#include "apps/support/names.h"
#include "apps/support/numbers.h"
#include "apps/support/shell.h"
#include "core/joined.h"
#include "lab/experiments/cells.h"
#include "lab/experiments/score_kinds.h"
#include "lab/report/run_page.h"
#include "lab/report/words.h"

namespace heed {
namespace {

constexpr size_t shown_runs = 8, shown_scores = 2;

// A comparison and its place in the table of differences.
struct DifferenceRow {
  const Comparison* comparison;
  std::string name;
  std::string whole_name = {};  // for a sentence
};
struct DifferenceTable {
  std::string note;
  std::vector<DifferenceRow> rows;
  bool of_effects = false;  // differences between effects: interactions
};

std::vector<DifferenceTable> differences_of(const SweepScores& sweep) {
  const Effects& effects = sweep.effects;
  const RunGroups& groups = sweep.groups;
  std::vector<DifferenceTable> tables;
  if (!effects.keys.empty()) {
    DifferenceTable table{"each key, averaged over the other keys within each seed", {}};
    for (const KeyEffects& key : effects.keys)
      for (const KeyEffects::Value& value : key.values)
        table.rows.push_back(
            {&value,
             fmt::format("{}, not {}", short_settings(key.keys, value.values), joined(key.first)),
             fmt::format("{} instead of {}", settings_text(key.keys, value.values),
                         joined(key.first))});
    tables.push_back(std::move(table));
  }
  if (const Interactions& two = effects.interactions; !two.values.empty()) {
    const std::vector<std::string> keys(two.keys.begin(), two.keys.end());
    DifferenceTable table{
        fmt::format("interaction: the effect of {} at one value of {}, over that at another one",
                    last_component(keys[0]), last_component(keys[1])),
        {},
        true};
    for (const Interaction& each : two.values)
      table.rows.push_back(
          {&each, fmt::format("{}, not {}, at {} over {}",
                              short_settings({keys[0]}, {each.values[0]}), each.against[0],
                              short_settings({keys[1]}, {each.values[1]}), each.against[1])});
    tables.push_back(std::move(table));
  }
  if (effects.groups.empty()) return tables;
  const auto compared = std::ranges::count_if(
      effects.groups, [](const GroupComparison& each) { return !each.seeds.empty(); });
  DifferenceTable table{
      "each group against " + name_of_group(groups, effects.first) +
          (compared > 1 ? fmt::format("; p corrected for {} comparisons (Holm)", compared) : ""),
      {}};
  for (const GroupComparison& each : effects.groups)
    table.rows.push_back(
        {&each, name_of_group(groups, each.group),
         fmt::format("{} instead of {}",
                     settings_text(groups.varying, groups.groups[each.group].values),
                     joined(groups.groups[each.against].values))});
  tables.push_back(std::move(table));
  return tables;
}

std::string number_of(const std::string& score, double value) {
  return maximum_of(score) == 1 ? fmt::format("{:.1f} %", 100 * value) : three_digits(value);
}

std::string interval_of(const std::string& score, const MeanInterval& mean) {
  if (!std::isfinite(mean.half_width)) return "–";
  const double factor = maximum_of(score) == 1 ? 100 : 1;
  const auto text = [&](double x) {
    return factor == 100 ? fmt::format("{:.1f}", factor * x) : three_digits(x);
  };
  return text(mean.interval.low) + " … " + text(mean.interval.high);
}

// The heads of columns with the values of keys, and of scores.
std::vector<Cell> heads_of(const RunGroups& groups) {
  std::vector<Cell> heads;
  for (const std::string& key : groups.varying) heads.push_back({html(last_component(key))});
  if (heads.empty()) heads.emplace_back();
  return heads;
}
void add_heads(std::vector<Cell>& heads, const std::vector<std::string>& scores) {
  for (const std::string& score : scores) heads.push_back({html(score), "n other"});
}

// The cells below them.
std::vector<Cell> cells_of(const RunGroups& groups, size_t i) {
  std::vector<Cell> cells;
  for (const std::string& value : groups.groups[i].values) cells.push_back({html(value), "", true});
  if (cells.empty()) cells.push_back({"all seeds", "", true});
  return cells;
}
void add_means(std::vector<Cell>& cells, const RunGroups& groups, size_t i,
               const std::vector<std::string>& scores) {
  for (const std::string& score : scores) {
    const auto mean = drawn_mean(groups, i, score);
    cells.push_back({mean ? number_of(score, mean->mean) : "–", "n other"});
  }
}

// A row for each group, best first. Scripts draw the dots of its seeds into the empty cell, and a
// piece of its line before its name. All but a few scores are folded.
std::string groups_table(const SweepScores& sweep) {
  const RunGroups& groups = sweep.groups;
  const std::string& score = sweep.score();
  std::vector<std::string> others(sweep.names.begin() + 1, sweep.names.end());
  std::stable_partition(others.begin(), others.end(),
                        [](const std::string& name) { return name.ends_with("exact_match"); });
  const std::vector<std::string> all = others;
  others.resize(std::min(others.size(), shown_scores));
  std::string rows, folded;
  for (const size_t i : sweep.best_first) {
    const RunGroup& group = groups.groups[i];
    const std::string count = count_text(group, score);
    const auto mean = drawn_mean(groups, i, score);
    std::vector<Cell> cells = cells_of(groups, i), whole = cells;
    cells.push_back({html(count), count.find("of") == count.npos ? "n" : "n bad"});
    cells.push_back({"", "plotted"});
    cells.push_back({"<b>" + (mean ? number_of(score, mean->mean) : "–") + "</b>", "n"});
    cells.push_back({mean ? interval_of(score, *mean) : "–", "n q"});
    add_means(cells, groups, i, others);
    add_means(whole, groups, i, all);
    rows += html_row(cells);
    folded += html_row(whole);
  }
  std::vector<Cell> heads = heads_of(groups), whole = heads;
  heads.insert(heads.end(), {{"seeds", "n"},
                             {"", "plotted"},
                             {html(score), "n"},
                             {title_of("95 % interval", groups.interval_kind(score)), "n"}});
  add_heads(heads, others);
  add_heads(whole, all);
  std::string text = html_table(heads, rows, "groups");
  if (all.size() > shown_scores) text += html_fold("All scores", html_table(whole, folded));
  return text;
}

Section result_section(const SweepScores& sweep) {
  const RunGroups& groups = sweep.groups;
  std::string text = html_drawing("groups", "") + groups_table(sweep);
  const BestGroup best = best_group(groups, sweep.chosen_by);
  if (best.index && !groups.varying.empty())
    text += fmt::format("<p>Best by {}: {}.</p>\n", html(sweep.chosen_by),
                        html(name_of_group(groups, *best.index)));
  for (const size_t i : best.left_out)
    text += fmt::format("<p class=\"note\">Not compared by {}: {}, which has it for {} only.</p>\n",
                        html(sweep.chosen_by), html(name_of_group(groups, i)),
                        counted(std::ssize(groups.groups[i].numbers(sweep.chosen_by)), "seed"));
  for (const std::string& path : groups.repeats)
    text +=
        fmt::format("<p class=\"note\">Left out: {}, which repeats another run.</p>\n", html(path));
  return {"result", "Result",
          fmt::format("a dot is a seed, the line their {}mean, the bar its 95 % interval",
                      sweep.by_ratio ? "geometric " : ""),
          text};
}

// --- Differences.

// Returns two numbers of seeds: those that the answers of a page have, and those that they need to
// be more than "too few seeds to tell". The numbers are equal if no answer says that. Where a small
// p is possible, the second is twice the first: intervals become about 1/√2 as wide.
std::pair<int64_t, int64_t> seeds_to_tell(const SweepScores& sweep) {
  int64_t seeds = 0, needed = 0;
  for (const DifferenceTable& table : differences_of(sweep)) {
    if (table.of_effects) continue;
    int64_t most = 0, compared = 0;
    bool unknown = false;
    for (const DifferenceRow& row : table.rows) {
      const Comparison& each = *row.comparison;
      most = std::max<int64_t>(most, std::ssize(each.seeds));
      compared += !each.seeds.empty();
      unknown = unknown || answer_of(each, sweep.effects).verdict == Answer::Verdict::unknown;
    }
    seeds = std::max(seeds, most);
    if (most == 0 || !unknown) continue;
    const int64_t least = least_differences(compared);
    needed = std::max(needed, least > most ? least : 2 * most);
  }
  return {seeds, std::max(seeds, needed)};
}

// Returns a command that trains more seeds of each group, below a line that describes it; "" if the
// seeds suffice. It adds the seeds to a sweep. Other runs get neighbours with their config.
std::string more_seeds(const Report& report) {
  const SweepScores& sweep = *report.sweep;
  const auto [told, needed] = seeds_to_tell(sweep);
  int64_t seeds = told;  // or more, where runs still train
  if (std::ranges::count_if(report.runs, has_ended) < planned_runs(report)) {
    if (report.plan) seeds = std::max<int64_t>(seeds, std::ssize(report.plan->options.seeds));
    for (const RunGroup& group : sweep.groups.groups)
      seeds = std::max<int64_t>(seeds, std::ssize(group.runs));
  }
  const int64_t more = needed - seeds;
  if (more <= 0) return "";
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
    for (const RunGroup& group : sweep.groups.groups) {
      runs += " " + shell_word(group.runs[0].folder.path());
      for (const ScoredRun& run : group.runs) last = std::max(last, run.seed);
    }
    for (int64_t seed = last + 1; seed <= last + more; ++seed) numbers += fmt::format(" {}", seed);
    command = fmt::format(
        "for run in{}; do for seed in{}; do {} \"$run/config.toml\" --set seed=$seed --run "
        "\"$run-seed-$seed\"; done; done",
        runs, numbers, heed_command({"train"}));
  }
  return fmt::format("<p class=\"q s\">Add {} ({})</p>\n", counted(more, "seed"),
                     counted(static_cast<int64_t>(groups) * more, "run")) +
         html_command(command);
}

Section differences_section(const Report& report) {
  const SweepScores& sweep = *report.sweep;
  const Effects& effects = sweep.effects;
  const RunGroups& groups = sweep.groups;
  if (!groups.repeats_over_seeds() && !effects.any()) return {"differences", "Differences", "", ""};
  std::string rows, warnings;
  for (const DifferenceTable& table : differences_of(sweep)) {
    rows += fmt::format("<tr class=\"group\"><td colspan=\"7\">{}</td></tr>\n", html(table.note));
    for (const DifferenceRow& row : table.rows) {
      const Comparison* const each = row.comparison;
      const Answer answer = answer_of(*each, effects);
      const auto& [low, high] = each->effect.interval;
      const bool known = !each->seeds.empty(), unknown = answer.verdict == Answer::Verdict::unknown,
                 bounded = std::isfinite(low) && std::isfinite(high);
      rows += html_row(
          {{html(row.name)},
           {std::to_string(each->seeds.size()), "n"},
           {"<b>" + size_text(each->effect.size, effects) + "</b>", "n"},
           {bounded ? size_text(low, effects) + " … " + size_text(high, effects) : "–", "n q"},
           {"", "plotted"},
           {known ? fmt::format("{:.2g}", each->adjusted_p) : "–", "n"},
           {table.of_effects && answer.verdict == Answer::Verdict::yes ? "the effect depends on it."
                                                                       : html(answer.words),
            unknown ? "bad" : "good"}});
    }
  }
  for (const std::string& warning : warnings_of(effects, groups))
    warnings += fmt::format("<p>{}.</p>\n", html(warning));
  const bool any = !rows.empty();
  if (any) warnings += more_seeds(report);
  std::string text;
  if (any)
    text = html_drawing("differences", "") +
           html_table({{""},
                       {"pairs", "n"},
                       {effects.by_ratio ? "factor" : "difference", "n"},
                       {"95 % interval", "n"},
                       {"", "plotted"},
                       {"p", "n"},
                       {"in words"}},
                      rows, "differences");
  if (!warnings.empty())
    text = any ? fmt::format(
                     "<div class=\"wide\"><div>{}</div><div class=\"aside\">{}</div>"
                     "</div>\n",
                     text, warnings)
               : "<div class=\"aside\">" + warnings + "</div>\n";
  return {"differences", "Differences",
          fmt::format("paired by seed; as a {} of {}, {} is no difference; p of sign flips",
                      effects.by_ratio ? "factor" : "difference", html(effects.score),
                      effects.by_ratio ? 1 : 0),
          text};
}

// --- Time to a target.

Section arrivals_section(const Arrivals& arrivals, const SweepScores& sweep) {
  const ScoreTarget& target = arrivals.target;
  std::string rows;
  int64_t left_out = 0;
  for (const size_t i : sweep.best_first) {
    const Arrivals::Group& each = arrivals.groups[i];
    left_out += each.left_out;
    const Reached median = each.median.value_or(Reached{.steps = NAN, .runs = 0});
    const auto cell = [](const std::optional<double>& value, double last, auto&& text) {
      return !value || std::isnan(*value) ? std::string("–")
             : std::isfinite(*value)      ? text(*value)
                                          : "&gt; " + text(last);
    };
    rows += html_row({{html(name_of_group(sweep.groups, i))},
                      {median.runs > 0 ? fmt::format("{} of {}", median.reached, median.runs) : "–",
                       median.reached < median.runs ? "n bad" : "n"},
                      {cell(median.steps, median.last_step, thin_grouped), "n"},
                      {cell(median.seconds, median.last_seconds,
                            [](double seconds) { return fmt::format("{:.1f}", seconds); }),
                       "n"}});
  }
  std::string words =
      "A seed that never reaches it counts as later than all others. So a median can be “&gt; " +
      thin_grouped(arrivals.last_step) + "”, and there is no mean.";
  if (left_out > 0)
    words += fmt::format(" Left out: {} that failed, or trains and has not reached it.",
                         counted(left_out, "run"));
  return {
      "target", "Time to a target",
      fmt::format("the first row of the metrics with <span class=\"m\">{}</span> {} {}; ▷ had "
                  "not reached it when training ended",
                  html(target.score), lower_is_better(target.score) ? "≤" : "≥", target.value),
      fmt::format(
          "<div class=\"pair\"><div>{}</div>\n<div>{}<p class=\"note\">{}</p></div></div>\n",
          html_drawing("target", ""),
          html_table({{"group"}, {"reached", "n"}, {"median step", "n"}, {"seconds", "n"}}, rows),
          words)};
}

// --- All runs.

int64_t count_of(const Report& report, RunState state) {
  return std::ranges::count(report.runs, state, &ReportedRun::state);
}

int64_t rank_of(RunState state) {
  return state == RunState::failed ? 0 : state == RunState::running ? 1 : 2;
}

// `folder`: of the sweep, which its runs are named without.
std::string row_of_run(const ReportedRun& run, const std::string& score,
                       const std::string& folder) {
  double step = run.curves.last_step();
  const auto all =
      static_cast<double>(std::max<int64_t>(1, run.saved.config.experiment.train.steps));
  std::optional<double> value = run.result.find_number(score);
  std::optional<double> seconds = run.result.find_number("seconds");
  if (const Curve* const curve = run.curves.find(score); curve && !value)
    value = curve->values.back();
  std::string last;
  if (const std::optional<double> left = seconds_left(run)) {
    seconds = run.curves.find("seconds")->values.back();
    last = fmt::format("about {} left", duration_text(*left));
  }
  if (run.state == RunState::failed)
    for (const std::string& note : run.notes) {
      last += note + " ";
      // "The run failed: step 3: the loss is NaN"
      if (const size_t at = note.find(": step "); at != note.npos)
        step = std::max(
            step,
            number_of_text(note.substr(at + 7, note.find(':', at + 7) - at - 7)).value_or(step));
    }
  const std::string state = name_of(run_state_names, run.state);
  return html_row({{html(run.name().starts_with(folder + "/") ? run.name().substr(folder.size() + 1)
                                                              : run.name()),
                    "m"},
                   {html_state(state, state)},
                   {fmt::format("<span class=\"prog\"><i style=\"width:{:.1f}%\"></i></span>{}",
                                std::min(100.0, 100 * step / all), thin_grouped(step)),
                    "nw"},
                   {value ? score_text(score, *value) : "–", "n"},
                   {seconds ? duration_text(*seconds) : "–", "n"},
                   {html(last), "last"}},
                  state);
}

Section runs_section(const Report& report, const std::string& score) {
  std::vector<const ReportedRun*> runs;
  for (const ReportedRun& run : report.runs) runs.push_back(&run);
  const auto number = [&](const ReportedRun* run) {
    const double value = run->result.find_number(score).value_or(INFINITY);
    return lower_is_better(score) || std::isinf(value) ? value : -value;
  };
  std::ranges::stable_sort(runs, {}, [&](const ReportedRun* run) {
    return std::pair(rank_of(run->state), number(run));
  });
  std::string shown, folded, settings, notes;
  const int64_t failed = count_of(report, RunState::failed);
  const size_t most = std::max(shown_runs, static_cast<size_t>(failed));
  for (size_t i = 0; i < runs.size(); ++i)
    (i < most ? shown : folded) += row_of_run(*runs[i], score, report.sweep_folder);
  for (const ReportedRun& run : report.runs) {
    settings += html_fold(run.name(), scores_of_run(run.result) + changed_keys_of_run(run));
    if (run.state == RunState::failed) continue;  // in the table
    for (const std::string& note : run.notes)
      notes += fmt::format("<p class=\"note\">{}: {}</p>\n", html(run.name()), html(note));
  }
  const auto table = [&](const std::string& rows) {
    return html_table(
        {{"run"}, {"state"}, {"steps"}, {html(score), "n"}, {"time", "n"}, {"last line"}}, rows,
        "runs");
  };
  std::string text = table(shown);
  if (!folded.empty()) text += html_fold(fmt::format("{} more", runs.size() - most), table(folded));
  if (report.plan && count_of(report, RunState::done) < planned_runs(report) &&
      (failed > 0 || count_of(report, RunState::running) == 0))
    notes += fmt::format("<p class=\"q s\">Continue{}</p>\n{}",
                         failed > 0 ? ", and resume the runs that failed" : "",
                         html_command(heed_command({"sweep", report.sweep_folder}) +
                                      (failed > 0 ? " --retry-failed" : "")));
  return {"runs", "All runs", "failed first, then running, then by score",
          text + notes + html_fold("Scores and keys of each run", settings)};
}

// --- What scripts draw.

std::vector<std::string> values_of_key(const RunGroups& groups, size_t key) {
  std::vector<std::string> values;
  for (const RunGroup& group : groups.groups)
    if (std::ranges::find(values, group.values[key]) == values.end())
      values.push_back(group.values[key]);
  std::ranges::stable_sort(values, [](const std::string& a, const std::string& b) {
    const std::optional<double> x = number_of_text(a), y = number_of_text(b);
    return x && y ? *x < *y : x.has_value() && !y.has_value();
  });
  return values;
}

// The effect of a key of two values, from the first of its columns to the second, as the table of
// differences has it; NaN of a key with more.
double size_of_effect(const SweepScores& sweep, size_t key,
                      const std::vector<std::string>& columns) {
  const Effects& effects = sweep.effects;
  const RunGroups& groups = sweep.groups;
  if (columns.size() != 2) return NAN;
  const auto oriented = [&](const Effect& effect, const std::string& to) {
    return to == columns[1] ? effect.size : effects.by_ratio ? 1 / effect.size : -effect.size;
  };
  for (const KeyEffects& each : effects.keys)
    if (each.keys == std::vector{groups.varying[key]} && each.values.size() == 1)
      return oriented(each.values[0].effect, each.values[0].values[0]);
  if (groups.varying.size() == 1)
    for (const GroupComparison& each : effects.groups)
      if (!each.seeds.empty()) return oriented(each.effect, groups.groups[each.group].values[0]);
  return NAN;
}

Json groups_json(const SweepScores& sweep) {
  const RunGroups& groups = sweep.groups;
  Json list = Json::array();
  for (const size_t i : sweep.best_first) {
    const RunGroup& group = groups.groups[i];
    const auto style = style_of_group(groups, i);
    Json seeds = Json::array();
    for (const ScoredRun& run : group.runs)
      if (const auto value = run.number(sweep.score()))
        seeds.push(Json::object().set("seed", run.seed).set("value", six_digits(*value)));
    Json json = Json::object()
                    .set("name", name_of_group(groups, i))
                    .set("values", group.values)
                    .set("colour", style.first)
                    .set("dash", style.second)
                    .set("seeds", std::move(seeds));
    if (const auto mean = drawn_mean(groups, i, sweep.score())) {
      json.set("mean", six_digits(mean->mean));
      if (std::isfinite(mean->half_width))
        json.set("low", six_digits(mean->interval.low))
            .set("high", six_digits(mean->interval.high));
    }
    list.push(std::move(json));
  }
  return list;
}

}  // namespace

std::string heading_of_runs(const Report& report) {
  const int64_t done = count_of(report, RunState::done), all = planned_runs(report);
  std::string text = fmt::format("{} of {} done", done, counted(all, "run"));
  for (const RunState state : {RunState::running, RunState::failed})
    if (const auto n = count_of(report, state); n > 0)
      text += fmt::format(", {} {}", n, name_of(run_state_names, state));
  const RunState state = count_of(report, RunState::running) > 0 ? RunState::running
                         : done == all                           ? RunState::done
                                                                 : RunState::resumable;
  return html_state(name_of(run_state_names, state), text);
}

std::string top_of_runs(const Report& report) {
  if (!report.sweep)
    return fmt::format(
        "<div id=\"top\"><p class=\"say\">{}</p></div>\n",
        html(fmt::format("{}, each by itself", counted(std::ssize(report.runs), "run"))));
  const SweepScores& sweep = *report.sweep;
  const RunGroups& groups = sweep.groups;
  const std::string asked = report.plan ? report.plan->options.question : "";
  std::string text = fmt::format("<p class=\"say\">{}</p>\n<p class=\"lead\">",
                                 html(asked.empty() ? question_of(groups, sweep.score()) : asked));
  constexpr size_t most = 4;
  const std::vector<DifferenceTable> tables = differences_of(sweep);
  const size_t asks = tables.empty() ? 0 : tables[0].rows.size();
  for (size_t i = 0; i < std::min(most, asks); ++i) {
    const DifferenceRow& row = tables[0].rows[i];
    const Answer answer = answer_of(*row.comparison, sweep.effects);
    text += fmt::format("<b class=\"{}\">{}: {}</b> <i>{}.</i> ",
                        answer.verdict == Answer::Verdict::unknown ? "bad" : "good",
                        html(row.whole_name), html(answer.words), html(answer.details));
  }
  if (asks > most) text += fmt::format("<a href=\"#differences\">{} more below.</a>", asks - most);
  if (groups.varying.empty() && !groups.groups.empty())
    if (const auto mean = drawn_mean(groups, 0, sweep.score()))
      text += fmt::format("Over {} the mean is {}{}.", counted(mean->n, "seed"),
                          number_of(sweep.score(), mean->mean),
                          std::isfinite(mean->half_width)
                              ? ", 95 % interval " + interval_of(sweep.score(), *mean)
                              : "");
  text += "</p>\n";
  for (const std::string& failure : groups.failures())
    text += fmt::format("<p class=\"note\">{}</p>\n", html(failure));
  std::string keys;
  for (size_t k = 0; k < groups.varying.size(); ++k)
    keys += fmt::format("<span class=\"m\">{}</span> = {} · ", html(groups.varying[k]),
                        html(joined(values_of_key(groups, k))));
  return fmt::format(
      "<div id=\"top\">{}<p class=\"s q how\">{}the score that decides is <span class=\"m\">{}"
      "</span>, {} is better</p></div>\n",
      text, keys, html(sweep.chosen_by), lower_is_better(sweep.chosen_by) ? "lower" : "higher");
}

std::vector<Section> sections_of_runs(const Report& report) {
  std::vector<Section> sections;
  const auto& sweep = report.sweep;
  if (sweep) {
    sections.push_back(result_section(*sweep));
    sections.push_back(differences_section(report));
  } else if (!report.run_table.rows.empty()) {
    const auto& rows = report.run_table.rows;
    sections.push_back(
        {"result", "Result", "", html_table(rows[0], {rows.begin() + 1, rows.end()})});
  }
  sections.push_back(
      {"curves", "Learning curves",
       sweep && sweep->groups.repeats_over_seeds()
           ? "thick: mean of the seeds, with its 95 % interval computed on the "
             "scale of the axis; thin: each seed"
           : "",
       report.charts.empty() ? "" : html_drawing("curves", ends_of_curves(report.charts))});
  if (sweep && !sweep->groups.varying.empty())
    sections.push_back({"effects", "Effect of each key",
                        "a line is one seed, with the other keys held; dashed: goes the other way; "
                        "thick: mean",
                        html_drawing("effects", "")});
  if (report.arrivals) sections.push_back(arrivals_section(*report.arrivals, *sweep));
  sections.push_back(runs_section(report, sweep ? sweep->score() : "val.loss"));
  return sections;
}

Json data_of_runs(const Report& report) {
  Json data = Json::object().set("curves", Json::array(report.charts));
  if (!report.sweep) return data;
  const SweepScores& sweep = *report.sweep;
  const RunGroups& groups = sweep.groups;
  const Effects& effects = sweep.effects;
  Json rows = Json::array(), keys = Json::array();
  for (const DifferenceTable& table : differences_of(sweep))
    for (const DifferenceRow& row : table.rows) {
      const Effect& effect = row.comparison->effect;
      rows.push(row.comparison->seeds.empty() ? Json()
                                              : Json::object()
                                                    .set("name", row.name)
                                                    .set("size", six_digits(effect.size))
                                                    .set("low", six_digits(effect.interval.low))
                                                    .set("high", six_digits(effect.interval.high)));
    }
  for (size_t k = 0; k < groups.varying.size(); ++k) {
    const std::vector<std::string> values = values_of_key(groups, k);
    keys.push(Json::object()
                  .set("key", groups.varying[k])
                  .set("values", values)
                  .set("size", six_digits(size_of_effect(sweep, k, values))));
  }
  if (const Interactions& two = effects.interactions; !two.values.empty())
    data.set("interaction", std::vector<std::string>(two.keys.begin(), two.keys.end()));
  if (report.arrivals) data.set("target", arrivals_json(*report.arrivals, sweep.best_first));
  return data.set("score", sweep.score())
      .set("log", sweep.by_ratio)
      .set("fraction", maximum_of(sweep.score()) == 1)
      .set("groups", groups_json(sweep))
      .set("differences", Json::object()
                              .set("log", effects.by_ratio)
                              .set("none", effects.no_effect())
                              .set("rows", std::move(rows)))
      .set("keys", std::move(keys));
}

}  // namespace heed
