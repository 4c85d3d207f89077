#include "apps/support/table.h"

#include <fmt/format.h>
#include <utf8.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

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

// Escapes what LaTeX would read as a command, and writes the signs of comparisons as mathematics.
std::string latex_cell(const std::string& cell) {
  static constexpr std::pair<std::string_view, std::string_view> replacements[] = {
      {"\\", "\\textbackslash{}"},
      {"&", "\\&"},
      {"%", "\\%"},
      {"$", "\\$"},
      {"#", "\\#"},
      {"_", "\\_"},
      {"{", "\\{"},
      {"}", "\\}"},
      {"~", "\\textasciitilde{}"},
      {"^", "\\textasciicircum{}"},
      {"<", "\\textless{}"},
      {">", "\\textgreater{}"},
      {"±", "$\\pm$"},
      {"…", "\\ldots{}"},
      {"≤", "$\\leq$"},
      {"≥", "$\\geq$"},
      {"−", "$-$"}};
  const std::string safe = shortened(cell, cell.size());
  std::string text;
  for (size_t i = 0; i < safe.size();) {
    const auto* const found = std::ranges::find_if(replacements, [&](const auto& each) {
      return std::string_view(safe).substr(i).starts_with(each.first);
    });
    if (found == std::end(replacements)) {
      text += safe[i++];
    } else {
      text += found->second;
      i += found->first.size();
    }
  }
  return text;
}

}  // namespace

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

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

std::string Table::latex(size_t left) const {
  std::string text;
  for (const Row& row : rows) {
    if (&row == &rows.front()) {
      text += "\\begin{tabular}{";
      for (size_t i = 0; i < row.size(); ++i) text += i < left ? 'l' : 'r';
      text += "}\n\\toprule\n";
    }
    for (size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : " & ") + latex_cell(row[i]);
    text += " \\\\\n";
    if (&row == &rows.front()) text += "\\midrule\n";
  }
  if (!rows.empty()) text += "\\bottomrule\n\\end{tabular}\n";
  for (const std::string& note : notes) text += "% " + shortened(note, note.size()) + '\n';
  return text;
}

}  // namespace heed
