#include "apps/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "apps/report/charts.h"
#include "apps/report/details_page.h"
#include "apps/report/html.h"
#include "apps/report/page_files.h"
#include "apps/report/sweep_page.h"
#include "apps/support/base64.h"
#include "apps/support/files.h"
#include "apps/support/numbers.h"

namespace heed {

namespace {

// A score as people read it: a fraction in percent.
std::string score_text(const std::string& name, const Json& value) {
  if (!value.is_number()) return "–";
  const double number = value.number();
  if (name == "token_accuracy" || name == "exact_match")
    return fmt::format("{:.2f} %", 100 * number);
  return number == static_cast<double>(static_cast<int64_t>(number)) && number < 1e15
             ? fmt::format("{:.0f}", number)
             : four_digits(number);
}

std::string spaced(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string notes_of(const Json& run) {
  std::string text;
  for (const Json& note : run.at("notes").elements())
    text += fmt::format("<p class=\"note\">{}</p>\n", html(note.string()));
  return text;
}

std::string facts_of_run(const Json& run) {
  std::string text = "<dl class=\"facts\">\n";
  for (const Json& fact : run.at("facts").elements())
    text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", html(fact.elements()[0].string()),
                        html(fact.elements()[1].string()));
  return text + "</dl>\n";
}

// A row for each split, a column for each score.
std::string scores_of_run(const Json& run) {
  const Json* result = run.find("result");
  if (!result) return "";
  Cells heads{"split"};
  for (const auto& [split, scores] : result->members())
    if (scores.is_object())
      for (const auto& [name, score] : scores.members())
        if (std::ranges::find(heads, name) == heads.end()) heads.push_back(name);
  std::vector<Cells> rows;
  for (const auto& [split, scores] : result->members()) {
    if (!scores.is_object()) continue;
    Cells row{split};
    for (size_t i = 1; i < heads.size(); ++i) {
      const Json* score = scores.find(heads[i]);
      row.push_back(score ? score_text(heads[i], *score) : "–");
    }
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return "";
  std::ranges::transform(heads, heads.begin(), spaced);
  return html_table(heads, rows);
}

std::string figure(const std::string& title, const std::string& name, const std::string& content) {
  return fmt::format(
      "<figure class=\"chart\" data-chart=\"{}\">\n<figcaption>{}</figcaption>\n<div "
      "class=\"plot\">{}</div>\n</figure>\n",
      html(name), html(title), content);
}

std::string figure_of(const Json& chart) {
  return figure(chart.at("title").string(), chart.at("name").string(), chart_svg(chart));
}

std::string charts_in(const Json& report, const char* name) {
  const Json* charts = report.find(name);
  std::string text;
  if (charts)
    for (const Json& chart : charts->elements()) text += figure_of(chart);
  return text.empty() ? "" : fmt::format("<div class=\"charts {}\">\n{}</div>\n", name, text);
}

std::string settings_of_run(const Json& run) {
  std::vector<Cells> rows;
  for (const Json& each : run.at("settings").elements())
    rows.push_back(
        {each.at("key").string(), each.at("value").string(), each.at("default").string()});
  return (rows.empty() ? "<p>Every key has its default.</p>\n"
                       : html_table({"key", "value", "default"}, rows, 3)) +
         fmt::format("<details><summary>All keys</summary>\n<pre>{}</pre>\n</details>\n",
                     html(run.at("config").string()));
}

std::string body_of_run(const Json& report, const Json& run) {
  const Json none = Json::object();
  const Json* found = report.find("details");
  const Json& details = found ? *found : none;
  return html_section("result", "Result",
                      notes_of(run) + (found ? notes_of(details) : "") + facts_of_run(run) +
                          scores_of_run(run)) +
         html_section("curves", "Curves", charts_in(report, "charts")) +
         html_section("attention", "Attention", attention_part(details)) +
         html_section("samples", "Samples", samples_part(details)) +
         html_section("errors", "Errors", errors_part(details)) +
         html_section("statistics", "Parameters and layers", charts_in(report, "statistics")) +
         html_section("time", "Where the time goes", profile_part(details)) +
         html_section("model", "Model and data", model_part(details)) +
         html_section("config", "Config", settings_of_run(run));
}

std::string body_of_runs(const Json& report) {
  std::string configs, notes;
  for (const Json& run : report.at("runs").elements()) {
    const std::string name = html(run.at("name").string());
    configs += fmt::format("<details><summary>{}</summary>\n{}{}</details>\n", name,
                           scores_of_run(run), settings_of_run(run));
    for (const Json& note : run.at("notes").elements())
      notes += fmt::format("<p class=\"note\">{}: {}</p>\n", name, html(note.string()));
  }
  const Json* sweep = report.find("sweep");
  return html_section("result", "Result", notes + (sweep ? groups_part(*sweep) : "")) +
         html_section("effects", "Effect of each key", sweep ? effects_part(*sweep) : "") +
         html_section("parallel", "All runs", sweep ? parallel_part(*sweep) : "") +
         html_section("curves", "Curves", charts_in(report, "charts")) +
         html_section("runs", "Runs", configs);
}

std::string state_badge(const Json& report) {
  const auto& runs = report.at("runs").elements();
  if (runs.size() != 1) return "";
  const std::string state = html(runs[0].at("state").string());
  return fmt::format("<span class=\"state {0}\">{0}</span>", state);
}

std::string script_source(std::string_view hash) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hash.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hash.substr(i, 2)), nullptr, 16));
  return "'sha256-" + base64(bytes) + "'";
}

// Returns the frame with a text in place of each {name}. What the texts contain is not read again.
std::string filled(std::string_view frame, const std::map<std::string, std::string>& texts) {
  std::string page;
  while (!frame.empty()) {
    const size_t begin = std::min(frame.find('{'), frame.size());
    page += frame.substr(0, begin);
    frame.remove_prefix(begin);
    if (frame.empty()) break;
    const size_t end = frame.find('}');
    page += texts.at(std::string(frame.substr(1, end - 1)));
    frame.remove_prefix(end + 1);
  }
  return page;
}

std::string licence_comment() {
  if (page_files::chart_licence.empty()) return "";
  std::string text(page_files::chart_licence);
  for (size_t at; (at = text.find("--")) != text.npos;) text.replace(at, 2, "- ");
  return "<!-- Chart.js:\n" + text + "-->\n";
}

}  // namespace

std::string report_file(const Json& report) {
  const auto& runs = report.at("runs").elements();
  const std::string chart_library(page_files::chart_library), script(page_files::script);
  const std::string policy =
      fmt::format("default-src 'none'; style-src 'unsafe-inline'; script-src {} {}",
                  script_source(sha256(chart_library)), script_source(sha256(script)));
  const std::string title = html(report.at("title").string());
  return filled(page_files::frame,
                {{"policy", policy},
                 {"title", title},
                 {"style", std::string(page_files::style)},
                 {"heading", title + state_badge(report)},
                 {"version", html(report.at("version").string())},
                 {"main", runs.size() == 1 ? body_of_run(report, runs[0]) : body_of_runs(report)},
                 {"scripts", html_data("report", report.text()) + licence_comment() + "<script>" +
                                 chart_library + "</script>\n<script>" + script + "</script>\n"}});
}

}  // namespace heed
