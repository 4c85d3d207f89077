// The files of lab/report/page and Chart.js, as cmake/embed.cmake puts them into the program.
#pragma once

#include <string_view>

namespace heed::page_files {

extern const std::string_view frame, style, script;
// Chart.js (https://www.chartjs.org) and its licence; empty if heed was built without it.
extern const std::string_view chart_library, chart_licence;

}  // namespace heed::page_files
