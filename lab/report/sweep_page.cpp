#include "lab/report/sweep_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "apps/support/log.h"
#include "apps/support/names.h"
#include "apps/support/numbers.h"
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
};
struct DifferenceTable {
  std::string note;
  std::vector<DifferenceRow> rows;
};

std::vector<DifferenceTable> differences_of(const Effects& effects, const RunGroups& groups) {
  std::vector<DifferenceTable> tables;
  if (!effects.keys.empty()) {
    DifferenceTable table{"each key, averaged over the other keys within each seed", {}};
    for (const KeyEffects& key : effects.keys)
      for (const KeyEffects::Value& value : key.values)
        table.rows.push_back(
            {&value,
             fmt::format("{}, not {}", short_settings(key.keys, value.values), joined(key.first))});
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
    table.rows.push_back({&each, name_of_group(groups, each.group)});
  tables.push_back(std::move(table));
  return tables;
}

// The indices of groups, the best mean first, those without one last.
std::vector<size_t> best_first(const SweepScores& sweep) {
  const std::string& score = sweep.names[0];
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < sweep.groups.groups.size(); ++i) {
    const auto mean = drawn_mean(sweep.groups.groups[i], score);
    const double value = mean ? mean->mean : INFINITY;
    order.emplace_back(mean && !lower_is_better(score) ? -value : value, i);
  }
  std::ranges::stable_sort(order, {}, [](const auto& each) { return each.first; });
  std::vector<size_t> indices;
  for (const auto& each : order) indices.push_back(each.second);
  return indices;
}

// Three significant digits, zeros among them.
std::string three_digits(double value) {
  return std::abs(value) >= 100 && std::abs(value) < 1e6 ? fmt::format("{:.0f}", value)
                                                         : fmt::format("{:#.3g}", value);
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

std::string swatch(const RunGroups& groups, size_t i) {
  const auto style = style_of_group(groups, i);
  return fmt::format("<i class=\"sw\" style=\"--c:var(--h{});--d:{}\"></i>", style.first % 4 + 1,
                     style.second % 2 == 0 ? "solid" : "dashed");
}

std::string key_heads(const RunGroups& groups) {
  std::string heads;
  for (const std::string& key : groups.varying)
    heads += "<th>" + html(last_component(key)) + "</th>";
  return groups.varying.empty() ? "<th></th>" : heads;
}

std::string key_cells(const RunGroups& groups, size_t i) {
  std::string cells;
  const std::vector<std::string>& values = groups.groups[i].values;
  for (size_t k = 0; k < std::max<size_t>(1, values.size()); ++k)
    cells += fmt::format("<th>{}{}</th>", k == 0 ? swatch(groups, i) : "",
                         values.empty() ? "all seeds" : html(values[k]));
  return cells;
}

// Means of some scores as cells.
std::string score_cells(const RunGroup& group, const std::vector<std::string>& scores) {
  std::string cells;
  for (const std::string& score : scores) {
    const auto mean = drawn_mean(group, score);
    cells += fmt::format("<td class=\"n\">{}</td>", mean ? number_of(score, mean->mean) : "–");
  }
  return cells;
}

std::string score_heads(const std::vector<std::string>& scores) {
  std::string heads;
  for (const std::string& score : scores)
    heads += fmt::format("<th class=\"n\">{}</th>", html(score));
  return heads;
}

// A row for each group, best first; scripts draw the dots of its seeds into the empty cell. All but
// a few scores are folded.
std::string groups_table(const SweepScores& sweep) {
  const RunGroups& groups = sweep.groups;
  const std::string& score = sweep.names[0];
  std::vector<std::string> others(sweep.names.begin() + 1, sweep.names.end());
  std::stable_partition(others.begin(), others.end(),
                        [](const std::string& name) { return name.ends_with("exact_match"); });
  const std::vector<std::string> all = others;
  others.resize(std::min(others.size(), shown_scores));
  std::string rows, folded;
  for (const size_t i : best_first(sweep)) {
    const RunGroup& group = groups.groups[i];
    const std::string count = count_text(group, score);
    const auto mean = drawn_mean(group, score);
    rows += fmt::format(
        "<tr>{}<td class=\"n{}\">{}</td><td class=\"plotted\"></td><td "
        "class=\"n\"><b>{}</b></td><td class=\"n q\">{}</td>{}</tr>\n",
        key_cells(groups, i), count.find("of") == count.npos ? "" : " bad", html(count),
        mean ? number_of(score, mean->mean) : "–", mean ? interval_of(score, *mean) : "–",
        score_cells(group, others));
    folded += "<tr>" + key_cells(groups, i) + score_cells(group, all) + "</tr>\n";
  }
  std::string text = fmt::format(
      "<div class=\"scroll\"><table class=\"groups\">\n<thead><tr>{}<th class=\"n\">seeds</th><th "
      "class=\"plotted\"></th><th class=\"n\">{}</th><th class=\"n\">95 % interval</th>{}</tr>"
      "</thead>\n<tbody>{}</tbody></table></div>\n",
      key_heads(groups), html(score), score_heads(others), rows);
  if (all.size() > shown_scores)
    text += fmt::format(
        "<details><summary>All scores</summary>\n<div class=\"scroll\"><table>\n<thead><tr>{}{}"
        "</tr></thead>\n<tbody>{}</tbody></table></div></details>\n",
        key_heads(groups), score_heads(all), folded);
  return text;
}

Section result_section(const SweepScores& sweep) {
  const RunGroups& groups = sweep.groups;
  const std::string& score = sweep.names[0];
  std::vector<double> all;
  for (const RunGroup& group : groups.groups)
    for (const double value : group.numbers(score)) all.push_back(value);
  const bool by_ratio = is_drawn_by_ratio(score, all);
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
                      by_ratio ? "geometric " : ""),
          text};
}

Section differences_section(const SweepScores& sweep, const Effects& effects) {
  const RunGroups& groups = sweep.groups;
  if (!groups.repeats_over_seeds() && !effects.any()) return {"differences", "Differences", "", ""};
  std::string rows, warnings;
  size_t index = 0;
  for (const DifferenceTable& table : differences_of(effects, groups)) {
    rows += fmt::format("<tr class=\"group\"><td colspan=\"7\">{}</td></tr>\n", html(table.note));
    for (const auto& [each, name] : table.rows) {
      const Answer answer = answer_of(*each, effects, "");
      const auto size = [&](double x) {
        return (effects.by_ratio || x < 0 ? "" : "+") + three_digits(x);
      };
      const auto& [low, high] = each->effect.interval;
      const bool known = !each->seeds.empty();
      const char* const tone = answer.verdict == Answer::Verdict::unknown ? "bad" : "good";
      rows += fmt::format(
          "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\"><b>{}</b></td><td class=\"n "
          "q\">{}</td><td class=\"plotted\" data-row=\"{}\"></td><td class=\"n\">{}</td><td "
          "class=\"{}\">{}</td></tr>\n",
          html(name), each->seeds.size(), known ? size(each->effect.size) : "–",
          known && std::isfinite(low) && std::isfinite(high) ? size(low) + " … " + size(high) : "–",
          index++, known ? fmt::format("{:.2g}", each->adjusted_p) : "–", tone,
          html(answer.words.substr(2)));
    }
  }
  for (const std::string& warning : warnings_of(effects, groups))
    warnings += fmt::format("<p>{}.</p>\n", html(warning));
  std::string text;
  if (index > 0)
    text =
        html_drawing("differences", "") +
        fmt::format(
            "<div class=\"scroll\"><table class=\"differences\">\n<thead><tr><th></th><th "
            "class=\"n\">pairs</th><th class=\"n\">{}</th><th class=\"n\">95 % interval</th><th "
            "class=\"plotted\"></th><th class=\"n\">p</th><th>in words</th></tr></thead>\n<tbody>{}"
            "</tbody></table></div>\n",
            effects.by_ratio ? "factor" : "difference", rows);
  if (!warnings.empty())
    text = index > 0 ? fmt::format(
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

Section arrivals_section(const Arrivals& arrivals, const RunGroups& groups,
                         const std::vector<size_t>& order) {
  const ScoreTarget& target = arrivals.target;
  std::string rows;
  int64_t left_out = 0;
  for (const size_t i : order) {
    const Arrivals::Group& each = arrivals.groups[i];
    left_out += each.left_out;
    rows += fmt::format("<tr><td>{}</td>", html(name_of_group(groups, i)));
    if (each.median) {
      const Reached& median = *each.median;
      const auto cell = [](const std::optional<double>& value, double last, auto&& text) {
        return !value                  ? std::string("–")
               : std::isfinite(*value) ? text(*value)
                                       : "&gt; " + text(last);
      };
      rows += fmt::format(
          "<td class=\"n{}\">{} of {}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
          median.reached < median.runs ? " bad" : "", median.reached, median.runs,
          cell(median.steps, median.last_step, thin_grouped),
          cell(median.seconds, median.last_seconds,
               [](double seconds) { return fmt::format("{:.1f}", seconds); }));
    } else {
      rows += "<td class=\"n\">–</td><td class=\"n\">–</td><td class=\"n\">–</td></tr>\n";
    }
  }
  std::string words =
      "A seed that never reaches it counts as later than all others. So a median can be “&gt; " +
      thin_grouped(arrivals.last_step) + "”, and there is no mean.";
  if (left_out > 0)
    words += fmt::format(" Left out: {} that failed, or trains and has not reached it.",
                         counted(left_out, "run"));
  return {"target", "Time to a target",
          fmt::format("the first row of the metrics with <span class=\"m\">{}</span> {} {}; ▷ had "
                      "not reached it when training ended",
                      html(target.score), lower_is_better(target.score) ? "≤" : "≥", target.value),
          fmt::format("<div class=\"pair\"><div>{}</div>\n<div><div class=\"scroll\"><table>\n"
                      "<thead><tr><th>group</th><th class=\"n\">reached</th><th class=\"n\">median "
                      "step</th><th class=\"n\">seconds</th></tr></thead>\n<tbody>{}</tbody>"
                      "</table></div>\n<p class=\"note\">{}</p></div></div>\n",
                      html_drawing("target", ""), rows, words)};
}

// --- All runs.

int64_t rank_of(RunState state) {
  return state == RunState::failed ? 0 : state == RunState::running ? 1 : 2;
}

// `folder`: of the sweep, which its runs are named without.
std::string row_of_run(const ReportedRun& run, const std::string& score,
                       const std::string& folder) {
  double step = run.curves.last_step();
  const auto all =
      static_cast<double>(std::max<int64_t>(1, run.saved.config.experiment.train.steps));
  const Json* const value = run.result.is_object() ? run.result.find_path(score) : nullptr;
  const Json* const seconds = run.result.is_object() ? run.result.find("seconds") : nullptr;
  std::string last;
  if (run.state == RunState::failed)
    for (const std::string& note : run.notes) {
      last += note + " ";
      // "The run failed: step 3: the loss is NaN"
      if (const size_t at = note.find(": step "); at != note.npos)
        step = std::max(
            step,
            number_of_text(note.substr(at + 7, note.find(':', at + 7) - at - 7)).value_or(step));
    }
  return fmt::format(
      "<tr class=\"{0}\"><td class=\"m\">{1}</td><td><span class=\"state {0}\">{0}</span></td><td "
      "class=\"nw\"><span class=\"prog\"><i style=\"width:{2:.1f}%\"></i></span>{3}</td><td "
      "class=\"n\">{4}</td><td class=\"n\">{5}</td><td class=\"last\">{6}</td></tr>\n",
      name_of(run_state_names, run.state),
      html(run.name().starts_with(folder + "/") ? run.name().substr(folder.size() + 1)
                                                : run.name()),
      std::min(100.0, 100 * step / all), thin_grouped(step),
      value ? score_text(score, *value) : "–",
      seconds && seconds->is_number() ? fmt::format("{:.0f} s", seconds->number()) : "–",
      html(last));
}

Section runs_section(const Report& report, const std::string& score) {
  std::vector<const ReportedRun*> runs;
  for (const ReportedRun& run : report.runs) runs.push_back(&run);
  const auto number = [&](const ReportedRun* run) {
    const Json* const value = run->result.is_object() ? run->result.find_path(score) : nullptr;
    const double worst = INFINITY;
    if (!value || !value->is_number()) return worst;
    return lower_is_better(score) ? value->number() : -value->number();
  };
  std::ranges::stable_sort(runs, {}, [&](const ReportedRun* run) {
    return std::pair(rank_of(run->state), number(run));
  });
  const std::string heads = "<thead><tr><th>run</th><th>state</th><th>steps</th><th class=\"n\">" +
                            html(score) +
                            "</th><th class=\"n\">time</th><th>why it failed</th></tr></thead>\n";
  std::string shown, folded, settings, notes;
  size_t failed = 0;
  for (const ReportedRun* run : runs) failed += run->state == RunState::failed;
  const size_t most = std::max(shown_runs, failed);
  for (size_t i = 0; i < runs.size(); ++i)
    (i < most ? shown : folded) += row_of_run(*runs[i], score, report.sweep_folder);
  for (const ReportedRun& run : report.runs) {
    settings += fmt::format("<details><summary>{}</summary>\n{}{}</details>\n", html(run.name()),
                            scores_of_run(run.result), changed_keys_of_run(run));
    if (run.state == RunState::failed) continue;  // in the table
    for (const std::string& note : run.notes)
      notes += fmt::format("<p class=\"note\">{}: {}</p>\n", html(run.name()), html(note));
  }
  const auto table = [&](const std::string& rows) {
    return "<div class=\"scroll\"><table class=\"runs\">\n" + heads + "<tbody>" + rows +
           "</tbody></table></div>\n";
  };
  std::string text = table(shown);
  if (!folded.empty())
    text += fmt::format("<details><summary>{} more</summary>\n{}</details>\n", runs.size() - most,
                        table(folded));
  if (const auto done = std::ranges::count(runs, RunState::done, &ReportedRun::state);
      !report.sweep_folder.empty() && done < std::ssize(runs))
    notes += fmt::format(
        "<p class=\"q s\">Continue{}</p>\n{}",
        failed > 0 ? ", and resume the runs that failed" : "",
        html_command("heed sweep " + report.sweep_folder + (failed > 0 ? " --retry-failed" : "")));
  return {"runs", "All runs", "failed first, then running, then by score",
          text + notes + "<details><summary>Scores and keys of each run</summary>\n" + settings +
              "</details>\n"};
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

Json number_or_null(double value) {
  return std::isfinite(value) ? Json(six_digits(value)) : Json();
}

// The effect of a key of two values, from the first of its columns to the second, as the table of
// differences has it; null of a key with more.
Json size_of_effect(const Effects& effects, const RunGroups& groups, size_t key,
                    const std::vector<std::string>& columns) {
  if (columns.size() != 2) return {};
  const auto oriented = [&](const Effect& effect, const std::string& to) {
    if (!std::isfinite(effect.size)) return Json();
    return number_or_null(to == columns[1]   ? effect.size
                          : effects.by_ratio ? 1 / effect.size
                                             : -effect.size);
  };
  for (const KeyEffects& each : effects.keys)
    if (each.keys == std::vector{groups.varying[key]} && each.values.size() == 1)
      return oriented(each.values[0].effect, each.values[0].values[0]);
  if (groups.varying.size() == 1)
    for (const GroupComparison& each : effects.groups)
      if (!each.seeds.empty()) return oriented(each.effect, groups.groups[each.group].values[0]);
  return {};
}

// The score of each seed at each value of a key, the other keys held.
Json effect_of_key(const SweepScores& sweep, const Effects& effects, size_t key, bool by_ratio) {
  const RunGroups& groups = sweep.groups;
  const std::string& score = sweep.names[0];
  const std::vector<std::string> values = values_of_key(groups, key);
  struct Line {
    int64_t colour = 0;
    std::vector<double> scores;
  };
  std::map<std::pair<std::string, int64_t>, Line> lines;  // by other values, and seed
  std::vector<std::vector<double>> columns(values.size());
  for (size_t i = 0; i < groups.groups.size(); ++i) {
    const RunGroup& group = groups.groups[i];
    std::vector<std::string> keys = groups.varying, others = group.values;
    keys.erase(keys.begin() + static_cast<std::ptrdiff_t>(key));
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(key));
    const size_t column =
        static_cast<size_t>(std::ranges::find(values, group.values[key]) - values.begin());
    for (const ScoredRun& run : group.runs) {
      const std::optional<double> value = run.number(score);
      if (!value) continue;
      Line& line = lines[{others.empty() ? "" : settings_text(keys, others) + ", ", run.seed}];
      line.scores.resize(values.size(), NAN);
      line.colour = key == 0 ? 0 : style_of_group(groups, i).first;
      line.scores[column] = *value;
      columns[column].push_back(*value);
    }
  }
  Json means = Json::array(), seeds = Json::array();
  for (const std::vector<double>& column : columns)
    means.push(column.empty() ? Json()
                              : number_or_null(by_ratio ? geometric_mean(column).mean
                                                        : student_mean(column).mean));
  for (const auto& [name, line] : lines) {
    Json scores = Json::array();
    for (const double value : line.scores) scores.push(number_or_null(value));
    seeds.push(Json::object()
                   .set("name", fmt::format("{}seed {}", name.first, name.second))
                   .set("colour", line.colour)
                   .set("values", std::move(scores)));
  }
  return Json::object()
      .set("key", groups.varying[key])
      .set("size", size_of_effect(effects, groups, key, values))
      .set("columns", values)
      .set("means", std::move(means))
      .set("seeds", std::move(seeds));
}

// The names of the panels of curves, by the dash of a group: its values of all keys but the first.
Json panels_of(const RunGroups& groups) {
  std::vector<std::string> names, keys = groups.varying;
  if (keys.empty()) return names;
  keys.erase(keys.begin());
  for (size_t i = 0; i < groups.groups.size(); ++i)
    if (const auto& values = groups.groups[i].values;
        style_of_group(groups, i).second == std::ssize(names))
      names.push_back(short_settings(keys, {values.begin() + 1, values.end()}));
  return names;
}

Json groups_json(const SweepScores& sweep) {
  const RunGroups& groups = sweep.groups;
  Json list = Json::array();
  for (const size_t i : best_first(sweep)) {
    const RunGroup& group = groups.groups[i];
    const auto style = style_of_group(groups, i);
    Json seeds = Json::array();
    for (const ScoredRun& run : group.runs)
      if (const auto value = run.number(sweep.names[0]))
        seeds.push(Json::object().set("seed", run.seed).set("value", six_digits(*value)));
    Json json = Json::object()
                    .set("name", name_of_group(groups, i))
                    .set("colour", style.first)
                    .set("dash", style.second)
                    .set("seeds", std::move(seeds));
    if (const auto mean = drawn_mean(group, sweep.names[0])) {
      json.set("mean", number_or_null(mean->mean));
      if (std::isfinite(mean->half_width))
        json.set("low", number_or_null(mean->interval.low))
            .set("high", number_or_null(mean->interval.high));
    }
    list.push(std::move(json));
  }
  return list;
}

}  // namespace

std::string state_of_runs(const Report& report) {
  const auto count = [&](RunState state) {
    return std::ranges::count(report.runs, state, &ReportedRun::state);
  };
  std::string text =
      fmt::format("{} of {} done", count(RunState::done), counted(std::ssize(report.runs), "run"));
  for (const RunState state : {RunState::running, RunState::failed})
    if (const auto n = count(state); n > 0)
      text += fmt::format(", {} {}", n, name_of(run_state_names, state));
  return text;
}

std::string top_of_runs(const Report& report) {
  if (!report.sweep)
    return fmt::format(
        "<div id=\"top\"><p class=\"say\">{}</p></div>\n",
        html(fmt::format("{}, each by itself", counted(std::ssize(report.runs), "run"))));
  const SweepScores& sweep = *report.sweep;
  const RunGroups& groups = sweep.groups;
  const Effects effects = effects_on(groups, sweep.names[0]);
  std::string text = fmt::format(
      "<p class=\"say\">{}</p>\n<p class=\"lead\">",
      html(report.question.empty() ? question_of(groups, sweep.names[0]) : report.question));
  constexpr size_t most = 4;
  const std::vector<Answer> answers = answers_of(effects, groups);
  for (size_t i = 0; i < std::min(most, answers.size()); ++i)
    text += fmt::format("<b class=\"{}\">{}</b> <i>{}.</i> ",
                        answers[i].verdict == Answer::Verdict::unknown ? "bad" : "good",
                        html(answers[i].words), html(answers[i].details));
  if (answers.size() > most)
    text += fmt::format("<a href=\"#differences\">{} more below.</a>", answers.size() - most);
  if (groups.varying.empty() && !groups.groups.empty())
    if (const auto mean = drawn_mean(groups.groups[0], sweep.names[0]))
      text += fmt::format("Over {} the mean is {}{}.", counted(mean->n, "seed"),
                          number_of(sweep.names[0], mean->mean),
                          std::isfinite(mean->half_width)
                              ? ", 95 % interval " + interval_of(sweep.names[0], *mean)
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
    sections.push_back(differences_section(*sweep, effects_on(sweep->groups, sweep->names[0])));
  } else if (!report.run_table.rows.empty()) {
    const auto& rows = report.run_table.rows;
    sections.push_back({"result", "Result", "",
                        "<div class=\"scroll\">" +
                            html_table(rows[0], {rows.begin() + 1, rows.end()}) + "</div>\n"});
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
  if (report.arrivals)
    sections.push_back(arrivals_section(*report.arrivals, sweep->groups, best_first(*sweep)));
  sections.push_back(runs_section(report, sweep ? sweep->names[0] : "val.loss"));
  return sections;
}

Json data_of_runs(const Report& report) {
  Json data = Json::object().set("curves", Json::array(report.charts));
  if (!report.sweep) return data;
  const SweepScores& sweep = *report.sweep;
  const RunGroups& groups = sweep.groups;
  const std::string& score = sweep.names[0];
  std::vector<double> all;
  for (const RunGroup& group : groups.groups)
    for (const double value : group.numbers(score)) all.push_back(value);
  const bool by_ratio = is_drawn_by_ratio(score, all);
  const Effects effects = effects_on(groups, score);
  Json rows = Json::array(), keys = Json::array();
  for (const DifferenceTable& table : differences_of(effects, groups))
    for (const DifferenceRow& row : table.rows) {
      const Effect& effect = row.comparison->effect;
      rows.push(row.comparison->seeds.empty()
                    ? Json()
                    : Json::object()
                          .set("name", row.name)
                          .set("size", number_or_null(effect.size))
                          .set("low", number_or_null(effect.interval.low))
                          .set("high", number_or_null(effect.interval.high)));
    }
  if (!all.empty())
    for (size_t k = 0; k < groups.varying.size(); ++k)
      keys.push(effect_of_key(sweep, effects, k, by_ratio));
  if (report.arrivals)
    data.set("target", arrivals_json(*report.arrivals, groups, best_first(sweep)));
  return data.set("score", score)
      .set("panels", panels_of(groups))
      .set("log", by_ratio)
      .set("fraction", maximum_of(score) == 1)
      .set("groups", groups_json(sweep))
      .set("differences", Json::object()
                              .set("log", effects.by_ratio)
                              .set("none", effects.no_effect())
                              .set("rows", std::move(rows)))
      .set("effects", std::move(keys));
}

}  // namespace heed
