#include "lab/report/page.h"

#include <fmt/format.h>

#include "apps/support/digest.h"
#include "apps/support/files.h"
#include "apps/support/machine.h"
#include "apps/support/numbers.h"
#include "apps/support/shell.h"
#include "apps/support/version.h"
#include "core/joined.h"
#include "lab/report/html.h"
#include "lab/report/page_files.h"
#include "lab/report/run_page.h"
#include "lab/report/sweep_page.h"
#include "lab/report/words.h"

namespace heed {

namespace {

// The title, the state, and what there is to know of the time.
std::string heading_of(const Report& report) {
  const ReportedRun& run = report.runs[0];
  const bool single = report.runs.size() == 1;
  const std::string state = name_of(run_state_names, run.state);
  std::vector<std::string> times;
  if (single && !run.started.empty()) times.push_back(run.started);
  if (const std::optional<double> left = single ? seconds_left(run) : seconds_left(report))
    times.push_back(fmt::format("about {} left", duration_text(*left)));
  return fmt::format("<h1>{}</h1>{}<span class=\"q s\">{}</span>", html(report.title),
                     single ? html_state(state, state) : heading_of_runs(report),
                     html(joined(times, " · ")));
}

Body body_of(const Report& report) {
  const bool single = report.runs.size() == 1;
  const std::vector<Section> sections = single ? sections_of_run(report) : sections_of_runs(report);
  Body body{heading_of(report),
            (single ? "<a href=\"#top\">Result</a>" : "") + html_contents(sections),
            single ? top_of_run(report) : top_of_runs(report),
            single ? data_of_run(report) : data_of_runs(report)};
  for (const Section& section : sections) body.main += html_section(section);
  return body;
}

std::string script_source(std::string_view hash) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hash.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hash.substr(i, 2)), nullptr, 16));
  return "'sha256-" + base64(bytes) + "'";
}

// Texts of the frame, which are HTML.
struct PageTexts {
  std::string title, head, live = {}, home = {}, heading, contents = {}, main, scripts = {},
                           by = {};
};

std::string framed(const PageTexts& texts) {
  return fmt::format(fmt::runtime(page_files::frame), fmt::arg("title", texts.title),
                     fmt::arg("head", texts.head), fmt::arg("live", texts.live),
                     fmt::arg("home", texts.home), fmt::arg("heading", texts.heading),
                     fmt::arg("contents", texts.contents), fmt::arg("main", texts.main),
                     fmt::arg("version", program_version), fmt::arg("scripts", texts.scripts),
                     fmt::arg("by", texts.by));
}

// A page of the server.
std::string served_page(const std::string& title, const Body& body, bool follows) {
  return framed(
      {.title = html(title),
       .head = "<link rel=\"stylesheet\" href=\"/page.css\">",
       .live = follows ? " data-live" : "",
       .home = "<p class=\"home\"><a href=\"/\">All runs</a><span id=\"live\"></span></p>\n",
       .heading = body.heading,
       .contents = body.contents,
       .main = body.main,
       .scripts = html_data("data", body.data.text()) + "<script src=\"/page.js\"></script>\n"});
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

}  // namespace

std::string page_file(const std::string& title, const Body& body) {
  const std::string script(page_files::script);
  const std::string policy =
      fmt::format("default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {}",
                  script_source(sha256(script)));
  std::vector<std::string> typed = command_line();
  if (!typed.empty()) typed.erase(typed.begin());  // heed_command() adds the program
  return framed(
      {.title = html(title),
       .head = fmt::format("<meta http-equiv=\"Content-Security-Policy\" "
                           "content=\"{}\">\n<style>\n{}</style>",
                           policy, page_files::style),
       .heading = body.heading,
       .contents = body.contents,
       .main = body.main,
       .scripts = html_data("data", body.data.text()) + "<script>" + script + "</script>\n",
       .by = ": <code>" + html(heed_command(typed)) + "</code>"});
}

std::string report_file(const Report& report) { return page_file(report.title, body_of(report)); }

std::string static_page(const std::string& title, const std::string& content) {
  return framed({.title = html(title),
                 .head = fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\""
                                     "default-src 'none'; style-src 'unsafe-inline'\">\n"
                                     "<style>\n{}</style>",
                                     page_files::style),
                 .heading = "<h1>" + html(title) + "</h1>",
                 .main = content});
}

std::string live_page(const Report& report, const std::string& name) {
  const bool follows = !report.details;
  Body body = body_of(report);
  if (follows && report.runs.size() == 1)
    body.main += fmt::format(
        "<p><a href=\"/report?run={}&amp;details=1\">Attention, samples, errors and time</a> "
        "(takes some seconds, and does not follow the run)</p>\n",
        url_encoded(name));
  return served_page(report.title, body, follows);
}

std::string list_page(const Json& rows) {
  std::string table;
  for (const Json& row : rows.elements()) {
    const std::string name = row.at("name").string(), state = row.at("state").string();
    const auto number = [&](const char* member, auto&& text) -> Cell {
      const std::optional<double> value = row.find_number(member);
      return {value ? text(*value) : "–", "n"};
    };
    table +=
        html_row({{fmt::format("<input type=\"checkbox\" name=\"run\" value=\"{0}\" "
                               "aria-label=\"{0}\">",
                               html(name))},
                  {fmt::format("<a href=\"/report?run={}\">{}</a>", url_encoded(name), html(name))},
                  {html_state(state, state)},
                  number("step", thin_grouped),
                  number("loss", four_digits),
                  number("val_loss", four_digits)});
  }
  const std::string content =
      table.empty() ? "<p>There is no run here yet.</p>\n"
                    : "<form action=\"/report\"><div class=\"controls\"><button>Show chosen "
                      "runs</button></div>\n" +
                          html_table({{""},
                                      {"run"},
                                      {"state"},
                                      {"step", "n"},
                                      {"loss", "n"},
                                      {"validation loss", "n"}},
                                     table, "list") +
                          "</form>\n";
  return served_page("heed: runs",
                     {"<h1>" + counted(std::ssize(rows.elements()), "run") + "</h1>", "", content},
                     true);
}

std::string problem_page(const std::string& problem) {
  return served_page("heed", {"<h1>Not found</h1>", "", "<p>" + html(problem) + "</p>\n"}, false);
}

}  // namespace heed
