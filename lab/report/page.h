// The page around a report: HTML whose sentences, tables and commands can be read without scripts,
// and data that scripts draw (lab/report/page). All text of a run is escaped.
#pragma once

#include <string>

#include "apps/support/json.h"
#include "lab/report/report_data.h"

namespace heed {

// A page without its frame: HTML, and what scripts draw.
struct Body {
  std::string heading, contents, main;
  Json data = Json::object();
};
// Returns a page as one HTML file that loads nothing. `title` is text.
std::string page_file(const std::string& title, const Body& body);
// Returns a report (lab/report/report_data.h) as such a file.
std::string report_file(const Report& report);

// Returns a page without scripts as one HTML file that loads nothing. `title` is text, `content`
// HTML.
std::string static_page(const std::string& title, const std::string& content);

// Returns a report as a page of `heed view`. It reads itself again when its runs change, unless it
// has details. `name` is what the server calls a single run.
std::string live_page(const Report& report, const std::string& name);
// Returns the list of the runs (lab/report/run_list.h), and a page with one message.
std::string list_page(const Json& rows);
std::string problem_page(const std::string& problem);

}  // namespace heed
