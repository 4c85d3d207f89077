// heed report: writes one HTML file about runs.
#include <fmt/format.h>

#include "apps/support/files.h"
#include "apps/support/output.h"
#include "lab/commands/room.h"
#include "lab/report/page.h"
#include "lab/report/report_data.h"

namespace heed {
namespace {

struct ReportArguments final : CommandArguments {
  ReportRequest request;
  std::string output = "report.html";
  bool no_profile = false;

  std::vector<Option> options() override {
    return {
        {"RUN|SWEEP...", "", &request.paths, "Folders of runs, or of sweeps"},
        {"--output", "FILE", &output, "HTML file to write (default: report.html)"},
        {"--runs", "", &request.by_run, "Show a row and a curve for every run; do not group seeds"},
        score_option(request.score),
        columns_option(request.columns),
        {"--no-profile", "", &no_profile, "Do not measure where the time of a step goes"}};
  }
  int run() const override;
};

int ReportArguments::run() const {
  const std::string file = output_path(output);
  ReportRequest asked = request;
  asked.profile = !no_profile;
  write_file(file, report_file(report_data(asked)));
  print(fmt::format("{}\n", output));
  return exit_done;
}

}  // namespace

const Command lab_commands::report = {
    .name = "report",
    .summary = "Write a page about runs: scores, curves, attention, samples",
    .details =
        "The page is one HTML file. It loads nothing, and can be read without scripts.\n"
        "\n"
        "Examples:\n"
        "  heed report runs/sort -o sort.html\n"
        "  heed report runs/shallow runs/deep --output compared.html\n"
        "  heed report runs/rates -o rates.html",
    .arguments = make_arguments<ReportArguments>,
};

}  // namespace heed
