// The page around a report: HTML that can be read without scripts, with tables and drawings;
// scripts then replace the drawings by charts. All text of a run is escaped.
#pragma once

#include <string>

#include "apps/support/json.h"

namespace heed {

// Returns a report (apps/report/report_data.h) as one HTML file that loads nothing.
std::string report_file(const Json& report);

}  // namespace heed
