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
#include "apps/support/version.h"

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
    rows.push_back({each.at("key").string(), each.at("value").string(), each.at("default").string(),
                    each.at("set_in").string()});
  const std::string command = run.at("command").string();
  return (command.empty() ? ""
                          : fmt::format("<p>Trained by <code>{}</code></p>\n", html(command))) +
         (rows.empty() ? "<p>Every key has its default.</p>\n"
                       : html_table({"key", "value", "default", "set in"}, rows, 4)) +
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

std::string main_of_report(const Json& report) {
  const auto& runs = report.at("runs").elements();
  return runs.size() == 1 ? body_of_run(report, runs[0]) : body_of_runs(report);
}

std::string heading_of(const Json& report) {
  return html(report.at("title").string()) + state_badge(report);
}

// A page of the server. `data`: a report, or nothing.
std::string served_page(const std::string& title, const std::string& heading,
                        const std::string& content, const std::string& data, bool follows) {
  return filled(
      page_files::frame,
      {{"title", html(title)},
       {"head", "<link rel=\"stylesheet\" href=\"/page.css\">"},
       {"live", follows ? " data-live" : ""},
       {"home", "<p class=\"home\"><a href=\"/\">All runs</a><span id=\"live\"></span></p>\n"},
       {"heading", heading},
       {"main", content},
       {"version", html(program_version)},
       {"scripts", data + "<script src=\"/chart.js\"></script>\n<script "
                          "src=\"/page.js\"></script>\n"}});
}

std::string url_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '/';
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

std::string cell_of(const Json& row, const char* name, bool whole) {
  const Json* value = row.find(name);
  if (!value) return "<td class=\"n\">–</td>";
  return fmt::format("<td class=\"n\">{}</td>",
                     whole ? grouped(value->number()) : four_digits(value->number()));
}

}  // namespace

std::string report_file(const Json& report) {
  const std::string chart_library(page_files::chart_library), script(page_files::script);
  const std::string policy =
      fmt::format("default-src 'none'; style-src 'unsafe-inline'; script-src {} {}",
                  script_source(sha256(chart_library)), script_source(sha256(script)));
  return filled(page_files::frame,
                {{"title", html(report.at("title").string())},
                 {"head", fmt::format("<meta http-equiv=\"Content-Security-Policy\" "
                                      "content=\"{}\">\n<style>\n{}</style>",
                                      policy, page_files::style)},
                 {"live", ""},
                 {"home", ""},
                 {"heading", heading_of(report)},
                 {"main", main_of_report(report)},
                 {"version", html(report.at("version").string())},
                 {"scripts", html_data("report", report.text()) + licence_comment() + "<script>" +
                                 chart_library + "</script>\n<script>" + script + "</script>\n"}});
}

std::string live_page(const Json& report, const std::string& name) {
  const bool follows = !report.find("details");
  std::string content = main_of_report(report);
  if (follows && report.at("runs").elements().size() == 1)
    content += fmt::format(
        "<p><a href=\"/report?run={}&amp;details=1\">Attention, samples, errors and time</a> "
        "(takes "
        "some seconds, and does not follow the run)</p>\n",
        url_encoded(name));
  return served_page(report.at("title").string(), heading_of(report), content,
                     html_data("report", report.text()), follows);
}

std::string list_page(const Json& rows) {
  std::string table;
  for (const Json& row : rows.elements()) {
    const std::string name = row.at("name").string(), state = row.at("state").string();
    table += fmt::format(
        "<tr id=\"run-{1}\"><td><input type=\"checkbox\" name=\"run\" value=\"{0}\" "
        "aria-label=\"{0}\"></td><td><a "
        "href=\"/report?run={1}\">{0}</a></td><td><span class=\"state "
        "{2}\">{2}</span></td>{3}{4}{5}"
        "</tr>\n",
        html(name), url_encoded(name), html(state), cell_of(row, "step", true),
        cell_of(row, "loss", false), cell_of(row, "val_loss", false));
  }
  const std::string content =
      table.empty() ? "<p>There is no run here yet.</p>\n"
                    : "<form action=\"/report\"><div class=\"controls\"><button>Show chosen "
                      "runs</button></div>\n<div class=\"scroll\"><table "
                      "class=\"list\">\n<thead><tr><th></th><th>run</th><th>state</th><th "
                      "class=\"n\">step</th><th class=\"n\">loss</th><th class=\"n\">validation "
                      "loss</th></tr></thead>\n" +
                          table + "</table></div></form>\n";
  return served_page("heed: runs", counted(std::ssize(rows.elements()), "run"), content, "", true);
}

std::string problem_page(const std::string& problem) {
  return served_page("heed", "Not found", "<p>" + html(problem) + "</p>\n", "", false);
}

}  // namespace heed
