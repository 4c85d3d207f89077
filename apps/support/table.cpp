#include "apps/support/table.h"

#include <fmt/format.h>
#include <utf8.h>

#include <algorithm>

#include "apps/support/csv.h"
#include "core/text.h"

namespace heed {
namespace {

size_t code_points(const std::string& text) {
  return static_cast<size_t>(utf8::unchecked::distance(text.begin(), text.end()));
}

// Escapes what Markdown or HTML would read as markup of a table.
std::string markdown_cell(const std::string& cell) {
  std::string text;
  for (const char c : shortened(cell, cell.size()))
    text += c == '|' ? "\\|" : c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return text;
}

}  // namespace

std::string Table::text(size_t left) const {
  std::vector<size_t> widths;
  std::vector<Row> shown = rows;
  for (Row& row : shown) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = shortened(row[i], row[i].size());
      if (row.size() > 1) widths[i] = std::max(widths[i], code_points(row[i]));
    }
  }
  std::string text;
  for (const Row& row : shown) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string spaces(widths[i] - std::min(widths[i], code_points(row[i])), ' ');
      line += (i == 0 ? "" : "  ") + (i < left ? row[i] + spaces : spaces + row[i]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  for (const std::string& note : notes) text += shortened(note, note.size()) + '\n';
  return text;
}

std::string Table::csv() const {
  std::string text;
  for (const Row& row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      text += csv_cell(row[i]) + (i + 1 < row.size() ? "," : "\n");
  return text;
}

std::string Table::markdown(size_t left) const {
  std::string text;
  for (const Row& row : rows) {
    text += '|';
    for (const std::string& cell : row) text += fmt::format(" {} |", markdown_cell(cell));
    text += '\n';
    if (&row != &rows.front()) continue;
    text += '|';
    for (size_t i = 0; i < row.size(); ++i) text += i < left ? "---|" : "---:|";
    text += '\n';
  }
  for (const std::string& note : notes)
    text += (text.empty() ? "" : "\n") + markdown_cell(note) + '\n';
  return text;
}

}  // namespace heed
