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
std::string cell_html(const std::string& cell, double largest) {
  const std::optional<double> number = number_in(cell);
  if (!number) return fmt::format("<td>{}</td>", html(cell));
  const double percent = largest > 0 ? 100 * std::abs(*number) / largest : 0;
  return fmt::format(
      "<td class=\"n\" style=\"background:linear-gradient(to left,color-mix(in srgb,var(--{}) "
      "30%,transparent) {:.1f}%,transparent 0)\">{}</td>",
      *number < 0 ? "bad" : "h1", percent, html(cell));
}

}  // namespace

std::string inspect_page(const std::string& run, const std::string& view, const std::string& shows,
                         const Table& table) {
  std::string text = "<div class=\"scroll bars\"><table>\n<thead><tr>";
  const Table::Row& heads = table.rows.front();
  std::vector<double> largest(heads.size());
  for (size_t i = 0; i < heads.size(); ++i) {
    bool has_numbers = false;
    for (size_t row = 1; row < table.rows.size(); ++row)
      if (const auto number = number_in(table.rows[row][i])) {
        has_numbers = true;
        largest[i] = std::max(largest[i], std::abs(*number));
      }
    text += fmt::format("<th{}>{}</th>", has_numbers ? " class=\"n\"" : "", html(heads[i]));
  }
  text += "</tr></thead>\n";
  for (size_t row = 1; row < table.rows.size(); ++row) {
    text += "<tr>";
    for (size_t i = 0; i < heads.size(); ++i)
      text += cell_html(table.rows[row][i], i == 0 ? 0 : largest[i]);
    text += "</tr>\n";
  }
  text += "</table></div>\n";
  for (const std::string& note : table.notes)
    text += fmt::format("<p class=\"note\">{}</p>\n", html(note));
  return static_page(run + ": " + view, html_section({view.c_str(), shows.c_str(), "", text}));
}

}  // namespace heed
