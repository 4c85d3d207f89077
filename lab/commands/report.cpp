// heed report: writes one HTML file about runs.
#include <fmt/format.h>

#include "apps/support/files.h"
#include "apps/support/terminal.h"
#include "lab/commands/room.h"
#include "lab/report/figure.h"
#include "lab/report/page.h"
#include "lab/report/report_data.h"

namespace heed {
namespace {

constexpr const char* default_page = "report.html";

struct ReportArguments final : CommandArguments {
  ReportRequest request;
  std::string output = default_page, figure, target, positions;
  std::vector<std::string> scores;
  KindRequest kinds;
  bool no_profile = false, log_x = false;

  std::vector<Option> options() override {
    return {
        {"RUN|SWEEP...", "", &request.paths, "Folders of runs, or of sweeps"},
        {"--output", "FILE", &output, "HTML file to write (default: report.html)"},
        {"--figure", "FILE", &figure,
         "Instead of the page write the learning curves of --score, as SVG, PDF or PNG by the name "
         "of "
         "the file"},
        by_option(kinds.by,
                  "With --figure: evaluate every run, and draw the scores of each kind of "
                  "examples in place of curves"),
        {"--log-x", "", &log_x, "With --figure: a logarithmic horizontal axis"},
        {"--runs", "", &request.by_run, "Show a row and a curve for every run; do not group seeds"},
        {"--score", "NAME[,NAME]", &scores,
         "Compare runs by this score, such as test.loss (default: the score of the validation "
         "split "
         "that train.best_by names); a figure also draws several, and all that a pattern such as "
         "'*.loss' matches"},
        columns_option(request.columns),
        {"--target", "SCORE=VALUE", &target,
         "Show when each run of several reached a score of metrics.jsonl, such as val.loss=1.88"},
        {"--split", "NAME", &request.split,
         "Split of the samples, errors and attention of one run (default: test, else val)"},
        positions_option(positions),
        {"--no-profile", "", &no_profile, "Do not measure where the time of a step goes"}};
  }
  int run() const override {
    check_input(figure.empty() || output == default_page,
                "--figure and --output: choose one; --figure writes no page");
    const bool of_page = request.split.empty() && positions.empty();
    check_input(figure.empty() || (request.columns.empty() && target.empty() && !no_profile),
                "--columns, --target and --no-profile are for the page; --figure writes none");
    check_input(figure.empty() || of_page || !kinds.by.empty(),
                "--split and --positions are for the page, and for --figure with --by");
    check_input(kinds.by.empty() || (!figure.empty() && !request.by_run),
                "--by is for --figure, without --runs");
    std::optional<PositionRange> range;
    if (!positions.empty()) range = PositionRange::parse(positions);
    check_input(!figure.empty() || (scores.size() <= 1 && !log_x),
                "--log-x and several scores are for --figure; the page takes one --score");
    const std::string file = figure.empty() ? output_path(output, {".html", ".htm"})
                                            : output_path(figure, {".svg", ".pdf", ".png"});
    if (!figure.empty()) {
      const KindRequest asked{kinds.by, request.split, range};
      write_figure(file, figure_of({request.paths, scores, request.by_run, log_x, asked}));
      print(fmt::format("{}\n", figure));
      return exit_done;
    }
    ReportRequest asked = request;
    asked.profile = !no_profile;
    if (!scores.empty()) asked.score = scores[0];
    asked.positions = range;
    if (!target.empty()) asked.target = ScoreTarget::parse(target);
    write_file(file, report_file(report_data(asked)));
    print(fmt::format("{}\n", output));
    return exit_done;
  }
};

}  // namespace

const Command lab_commands::report = {
    .name = "report",
    .summary = "Write a page about runs: scores, curves, attention, samples",
    .details =
        "The page is one HTML file. It loads nothing. Without scripts it is a table of scores.\n"
        "\n"
        "Examples:\n"
        "  heed report runs/sort -o sort.html\n"
        "  heed report runs/shallow runs/deep --output compared.html\n"
        "  heed report runs/rates -o rates.html --target val.loss=0.2\n"
        "  heed report runs/rates --figure rates.pdf --score val.exact_match",
    .arguments = make_arguments<ReportArguments>,
};

}  // namespace heed
