#include "lab/report/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/support/canvas.h"
#include "apps/support/digest.h"
#include "apps/support/machine.h"
#include "apps/support/numbers.h"
#include "apps/support/shell.h"
#include "apps/support/version.h"
#include "core/text.h"
#include "lab/report/page_files.h"
#include "lab/report/run_page.h"
#include "lab/report/sweep_page.h"

namespace heed {

namespace {

FactsPage page_of(const Report& report) {
  const bool single = report.runs.size() == 1;
  return {report.title, report.title, single ? run_page_data(report) : sweep_page_data(report),
          single ? facts_of_run(report.runs[0]) : facts_of_runs(report)};
}

std::string script_source(std::string_view hash) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hash.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hash.substr(i, 2)), nullptr, 16));
  return "'sha256-" + base64(bytes) + "'";
}

// JSON that no value in it can end as a script element.
std::string in_script(const std::string& json) {
  std::string safe;
  for (size_t at = 0, length = 0; at < json.size(); at += length) {
    length = std::max<size_t>(1, utf8_length(std::string_view(json).substr(at)));
    const std::string_view character = std::string_view(json).substr(at, length);
    const std::string shown = escaped(character);
    if (character == "<")
      safe += "\\u003c";
    else
      safe += shown == character ? shown : "\\" + shown;  // a script reads what escaped() returns
  }
  return safe;
}

std::string table_rows(const std::vector<Table::Row>& rows) {
  std::string text;
  for (const Table::Row& row : rows) {
    text += "<tr>";
    for (const std::string& cell : row) text += "<td>" + xml_escaped(cell) + "</td>";
    text += "</tr>\n";
  }
  return text;
}

// The parts of the frame beside those of the page; they are HTML.
struct Frame {
  std::string head, script, live = {}, home = {}, by = {};
};

std::string framed(const FactsPage& page, const Frame& frame) {
  Json data = page.data;
  data.set("title", page.heading);
  return fmt::format(fmt::runtime(page_files::frame), fmt::arg("title", xml_escaped(page.title)),
                     fmt::arg("heading", xml_escaped(page.heading)), fmt::arg("head", frame.head),
                     fmt::arg("live", frame.live), fmt::arg("home", frame.home),
                     fmt::arg("facts", table_rows(page.facts)),
                     fmt::arg("version", program_version), fmt::arg("by", frame.by),
                     fmt::arg("data", in_script(data.text())), fmt::arg("script", frame.script));
}

// A page of the server. It follows its runs unless their `version` is empty.
std::string served(const FactsPage& page, const std::string& version) {
  return framed(
      page,
      {.head = "<link rel=\"stylesheet\" href=\"/page.css\">",
       .script = "<script src=\"/page.js\"></script>",
       .live = version.empty() ? "" : fmt::format(" data-live=\"{}\"", version),
       .home = "<p class=\"home\"><a href=\"/\">All runs</a><span id=\"live\"></span></p>\n"});
}

}  // namespace

std::string page_file(const FactsPage& page) {
  const std::string script(page_files::script);
  std::vector<std::string> typed = command_line();
  if (!typed.empty()) typed.erase(typed.begin());  // heed_command() adds the program
  return framed(page, {.head = fmt::format(
                           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                           "'none'; style-src 'unsafe-inline'; img-src data:; script-src {}\">\n"
                           "<style>\n{}</style>",
                           script_source(sha256(script)), page_files::style),
                       .script = "<script>" + script + "</script>",
                       .by = ": <code>" + xml_escaped(heed_command(typed)) + "</code>"});
}

std::string served_page(const FactsPage& page) { return served(page, ""); }

std::string report_file(const Report& report) { return page_file(page_of(report)); }

std::string view_file(const std::string& run, const std::string& view, const std::string& shows,
                      const Table& table) {
  const std::string title = run + ": " + view;
  Json rows = Json::array();
  for (const Table::Row& row : table.rows) rows.push(row);
  return page_file({title, title,
                    Json::object()
                        .set("page", "view")
                        .set("view", view)
                        .set("shows", shows)
                        .set("rows", std::move(rows))
                        .set("notes", table.notes),
                    table.rows});
}

std::string live_page(const Report& report, const std::string& name, const std::string& version) {
  FactsPage page = page_of(report);
  if (!report.details && report.runs.size() == 1) page.data.set("details_of", name);
  return served(page, report.details ? "" : version);
}

std::string list_page(const Json& list, const std::string& version) {
  const auto& runs = list.at("runs").elements();
  Json data = list;
  FactsPage page{"heed: runs", counted(std::ssize(runs), "run"), data.set("page", "list")};
  for (const Json& row : runs)
    page.facts.push_back({row.at("name").string(), row.at("state").string()});
  return served(page, version);
}

std::string problem_page(const std::string& problem) {
  return served({"heed",
                 "Not found",
                 Json::object().set("page", "problem").set("problem", problem),
                 {{problem}}},
                "");
}

}  // namespace heed
