#include "lab/report/view_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/support/numbers.h"
#include "lab/report/html.h"
#include "lab/report/page.h"

namespace heed {
namespace {

std::optional<double> number_in(const std::string& cell) {
  return number_of_text(cell.starts_with('+') ? cell.substr(1) : cell);
}

// A number with its bar, blue if it is positive and red if it is negative; or text.
Cell cell_of(const std::string& text, double largest) {
  const std::optional<double> number = number_in(text);
  if (!number) return {html(text)};
  const double percent = largest > 0 ? 100 * std::abs(*number) / largest : 0;
  return {
      fmt::format("<span style=\"background:linear-gradient(to left,color-mix(in srgb,var(--{}) "
                  "30%,transparent) {:.1f}%,transparent 0)\">{}</span>",
                  *number < 0 ? "bad" : "h1", percent, html(text)),
      "n bar"};
}

}  // namespace

std::string view_table(const Table& table) {
  std::vector<Cell> heads;
  std::vector<double> largest;
  for (size_t i = 0; i < table.rows.front().size(); ++i) {
    double most = -1;  // without a number
    for (size_t row = 1; row < table.rows.size(); ++row)
      if (const auto number = number_in(table.rows[row][i]))
        most = std::max(most, std::abs(*number));
    heads.push_back({html(table.rows.front()[i]), most < 0 ? "" : "n"});
    largest.push_back(i == 0 ? 0 : most);
  }
  std::string rows;
  for (size_t row = 1; row < table.rows.size(); ++row) {
    std::vector<Cell> cells;
    for (size_t i = 0; i < heads.size(); ++i)
      cells.push_back(cell_of(table.rows[row][i], largest[i]));
    rows += html_row(cells);
  }
  std::string text = html_table(heads, rows);
  for (const std::string& note : table.notes)
    text += fmt::format("<p class=\"note\">{}</p>\n", html(note));
  return text;
}

std::string inspect_page(const std::string& run, const std::string& view, const std::string& shows,
                         const Table& table) {
  return static_page(run + ": " + view,
                     html_section({view.c_str(), shows.c_str(), "", view_table(table)}));
}

}  // namespace heed
