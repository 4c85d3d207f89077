// Pages: a frame, the facts as one JSON document, and the scripts that word and draw them
// (lab/report/page). Without scripts a page is a short table. All text of a run is escaped.
#pragma once

#include <string>

#include "apps/support/json.h"
#include "apps/support/table.h"
#include "lab/report/report_data.h"

namespace heed {

struct FactsPage {
  std::string title, heading;
  // {"page": its kind, of those that lab/report/page/report.js lists, and what such a page shows}
  Json data;
  std::vector<Table::Row> facts = {};  // all that there is without scripts
};
// Returns a page as one HTML file that loads nothing.
std::string page_file(const FactsPage& page);
// Returns it as a page of `heed view`, which loads the style and the scripts from there.
std::string served_page(const FactsPage& page);

// Returns a report (lab/report/report_data.h) as such a file.
std::string report_file(const Report& report);
// Returns a table of a view of `heed inspect` as such a file. `shows`: what it is in a sentence.
std::string view_file(const std::string& run, const std::string& view, const std::string& shows,
                      const Table& table);

// Returns a report as a page of `heed view`. It reads itself again when its runs change, unless it
// has details. `name` is what the server calls a single run. `version` is WatchedFolder::version()
// of the runs, taken before they were read, so that no change is missed.
std::string live_page(const Report& report, const std::string& name, const std::string& version);
// Returns the list of the runs (WatchedFolder::rows()), and a page with one message.
std::string list_page(const Json& list, const std::string& version);
std::string problem_page(const std::string& problem);

}  // namespace heed
