#include "lab/report/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/inference/scores.h"
#include "apps/support/digest.h"
#include "apps/support/files.h"
#include "apps/support/log.h"
#include "apps/support/numbers.h"
#include "apps/support/version.h"
#include "lab/report/charts.h"
#include "lab/report/details_page.h"
#include "lab/report/html.h"
#include "lab/report/page_files.h"
#include "lab/report/sweep_page.h"

namespace heed {

namespace {

// A score as people read it: a fraction in percent.
std::string score_text(const std::string& name, const Json& value) {
  if (!value.is_number()) return "–";
  const double number = value.number();
  if (maximum_of(name) == 1) return fmt::format("{:.2f} %", 100 * number);
  return number == static_cast<double>(static_cast<int64_t>(number)) && number < 1e15
             ? fmt::format("{:.0f}", number)
             : four_digits(number);
}

std::string spaced(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string notes_part(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes)
    text += fmt::format("<p class=\"note\">{}</p>\n", html(note));
  return text;
}

std::string facts_of_run(const ReportedRun& run) {
  std::string text;
  const auto add = [&](const std::string& label, const std::string& value) {
    text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", html(label), html(value));
  };
  const Experiment& experiment = run.saved.config.experiment;
  add("steps",
      fmt::format("{} of {}", grouped(run.curves.last_step()), grouped(experiment.train.steps)));
  const auto number = [&](const char* name) {
    const Json* value = run.result.find(name);
    return value && value->is_number() ? value->number() : -1;
  };
  if (number("best_step") >= 0) add("best step", grouped(number("best_step")));
  if (number("parameters") >= 0) add("parameters", grouped(number("parameters")));
  if (number("seconds") >= 0) add("training time", logging::clock_text(number("seconds")));
  if (number("tokens_per_s") >= 0) add("tokens per second", grouped(number("tokens_per_s")));
  for (const auto& [label, value] : run.session) add(label, value);
  add("data", experiment.data.kind->name);
  add("seed", std::to_string(experiment.seed));
  return "<dl class=\"facts\">\n" + text + "</dl>\n";
}

// A row for each split, a column for each score.
std::string scores_of_run(const Json& result) {
  if (result.is_null()) return "";
  Cells heads{"split"};
  for (const auto& [split, scores] : result.members())
    if (scores.is_object())
      for (const auto& [name, score] : scores.members())
        if (std::ranges::find(heads, name) == heads.end()) heads.push_back(name);
  std::vector<Cells> rows;
  for (const auto& [split, scores] : result.members()) {
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

std::string charts_part(const std::vector<Json>& charts, const char* kind) {
  std::string text;
  for (const Json& chart : charts) text += chart_figure(chart);
  return text.empty() ? "" : fmt::format("<div class=\"charts {}\">\n{}</div>\n", kind, text);
}

std::string settings_of_run(const ReportedRun& run) {
  const Experiment& experiment = run.saved.config.experiment;
  std::vector<Cells> rows;
  for (const auto& [key, value, standard] : changed_values(experiment)) {
    const auto origin = run.set_in.find(key);
    rows.push_back({key, value, standard, origin == run.set_in.end() ? "" : origin->second});
  }
  return (run.command.empty()
              ? ""
              : fmt::format("<p>Trained by <code>{}</code></p>\n", html(run.command))) +
         (rows.empty() ? "<p>Every key has its default.</p>\n"
                       : html_table({"key", "value", "default", "set in"}, rows, 4)) +
         fmt::format("<details><summary>All keys</summary>\n<pre>{}</pre>\n</details>\n",
                     html(config_text(list_config(experiment))));
}

std::string body_of_run(const Report& report) {
  const ReportedRun& run = report.runs[0];
  const Details details = report.details.value_or(Details());
  return html_section("result", "Result",
                      notes_part(run.notes) + notes_part(details.notes) + facts_of_run(run) +
                          scores_of_run(run.result)) +
         html_section("curves", "Curves", charts_part(report.charts, "charts")) +
         html_section("attention", "Attention", attention_part(details)) +
         html_section("samples", "Samples", samples_part(details)) +
         html_section("errors", "Errors", errors_part(details)) +
         html_section("statistics", "Parameters and layers",
                      charts_part(report.statistics, "statistics")) +
         html_section("time", "Where the time goes", profile_part(details)) +
         html_section("model", "Model and data", model_part(details)) +
         html_section("config", "Config", settings_of_run(run));
}

std::string run_table_part(const Table& table) {
  if (table.rows.empty()) return "";
  return html_table(table.rows[0], {table.rows.begin() + 1, table.rows.end()}, 1);
}

std::string body_of_runs(const Report& report) {
  std::string configs, notes;
  for (const ReportedRun& run : report.runs) {
    configs += fmt::format("<details><summary>{}</summary>\n{}{}</details>\n", html(run.name()),
                           scores_of_run(run.result), settings_of_run(run));
    for (const std::string& note : run.notes)
      notes += fmt::format("<p class=\"note\">{}: {}</p>\n", html(run.name()), html(note));
  }
  const auto& sweep = report.sweep;
  return html_section("result", "Result",
                      notes + (sweep ? groups_part(*sweep) : run_table_part(report.run_table))) +
         html_section("effects", "Effect of each key", sweep ? effects_part(*sweep) : "") +
         html_section("parallel", "All runs", sweep ? parallel_part(*sweep) : "") +
         html_section("curves", "Curves", charts_part(report.charts, "charts")) +
         html_section("runs", "Runs", configs);
}

std::string body_of(const Report& report) {
  return report.runs.size() == 1 ? body_of_run(report) : body_of_runs(report);
}

// The title, and the state of a single run.
std::string heading_of(const Report& report) {
  if (report.runs.size() != 1) return html(report.title);
  return fmt::format("{0}<span class=\"state {1}\">{1}</span>", html(report.title),
                     name_of(run_state_names, report.runs[0].state));
}

// What the scripts show: {"charts": lab/report/charts.h, "attention":
// lab/report/attention_atlas.h}
std::string script_data(const Report& report) {
  Json charts = Json::array(report.charts);
  for (const Json& chart : report.statistics) charts.push(chart);
  Json data = Json::object();
  if (report.details && !report.details->lengths.is_null()) charts.push(report.details->lengths);
  if (report.details) data.set("attention", report.details->attention);
  return html_data("report", data.set("charts", std::move(charts)).text());
}

std::string script_source(std::string_view hash) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hash.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hash.substr(i, 2)), nullptr, 16));
  return "'sha256-" + base64(bytes) + "'";
}

std::string licence_comment() {
  if (page_files::chart_licence.empty()) return "";
  std::string text(page_files::chart_licence);
  for (size_t at; (at = text.find("--")) != text.npos;) text.replace(at, 2, "- ");
  return "<!-- Chart.js:\n" + text + "-->\n";
}

// Texts of the frame, which are HTML.
struct PageTexts {
  std::string title, head, live, home, heading, main, scripts;
};

std::string framed(const PageTexts& texts) {
  return fmt::format(fmt::runtime(page_files::frame), fmt::arg("title", texts.title),
                     fmt::arg("head", texts.head), fmt::arg("live", texts.live),
                     fmt::arg("home", texts.home), fmt::arg("heading", texts.heading),
                     fmt::arg("main", texts.main), fmt::arg("version", program_version),
                     fmt::arg("scripts", texts.scripts));
}

// A page of the server. `data`: a report, or nothing.
std::string served_page(const std::string& title, const std::string& heading,
                        const std::string& content, const std::string& data, bool follows) {
  return framed(
      {.title = html(title),
       .head = "<link rel=\"stylesheet\" href=\"/page.css\">",
       .live = follows ? " data-live" : "",
       .home = "<p class=\"home\"><a href=\"/\">All runs</a><span id=\"live\"></span></p>\n",
       .heading = heading,
       .main = content,
       .scripts = data + "<script src=\"/chart.js\"></script>\n<script "
                         "src=\"/page.js\"></script>\n"});
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

std::string report_file(const Report& report) {
  const std::string chart_library(page_files::chart_library), script(page_files::script);
  const std::string policy =
      fmt::format("default-src 'none'; style-src 'unsafe-inline'; script-src {} {}",
                  script_source(sha256(chart_library)), script_source(sha256(script)));
  return framed({.title = html(report.title),
                 .head = fmt::format("<meta http-equiv=\"Content-Security-Policy\" "
                                     "content=\"{}\">\n<style>\n{}</style>",
                                     policy, page_files::style),
                 .live = "",
                 .home = "",
                 .heading = heading_of(report),
                 .main = body_of(report),
                 .scripts = script_data(report) + licence_comment() + "<script>" + chart_library +
                            "</script>\n<script>" + script + "</script>\n"});
}

std::string static_page(const std::string& title, const std::string& content) {
  return framed({.title = html(title),
                 .head = fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\""
                                     "default-src 'none'; style-src 'unsafe-inline'\">\n"
                                     "<style>\n{}</style>",
                                     page_files::style),
                 .live = "",
                 .home = "",
                 .heading = html(title),
                 .main = content,
                 .scripts = ""});
}

std::string live_page(const Report& report, const std::string& name) {
  const bool follows = !report.details;
  std::string content = body_of(report);
  if (follows && report.runs.size() == 1)
    content += fmt::format(
        "<p><a href=\"/report?run={}&amp;details=1\">Attention, samples, errors and time</a> "
        "(takes "
        "some seconds, and does not follow the run)</p>\n",
        url_encoded(name));
  return served_page(report.title, heading_of(report), content, script_data(report), follows);
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
