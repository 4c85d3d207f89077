#include "apps/support/table.h"

#include <fmt/format.h>
#include <utf8.h>

#include <algorithm>
#include <iterator>
#include <numeric>
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
  for (const char c : one_line(cell))
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
  const std::string safe = one_line(cell);
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

constexpr size_t column_gap = 2;  // between two columns

// Narrows the first `left` columns of a table that is wider than `limit`: the widest first.
void fit(std::vector<size_t>& widths, size_t left, size_t limit) {
  constexpr size_t narrowest = 12;
  const auto sum = [&](size_t end) {
    return std::accumulate(widths.begin(), widths.begin() + static_cast<std::ptrdiff_t>(end),
                           column_gap * (end - 1));
  };
  if (left == 0 || sum(widths.size()) <= limit) return;
  const size_t available = left == widths.size() ? limit : limit / 2;
  for (const auto end = widths.begin() + static_cast<std::ptrdiff_t>(left);;) {
    const auto widest = std::max_element(widths.begin(), end);
    if (sum(left) <= available || *widest <= narrowest) return;
    --*widest;
  }
}

}  // namespace

std::vector<std::string> lines_in(const std::string& cell, size_t width) {
  if (code_points(cell) <= width) return {cell};
  const std::string text = wrapped(cell, static_cast<int>(width));
  std::vector<std::string> lines = {""};
  for (size_t at = 0, length = 0, used = 0; at < text.size(); at += length) {
    length = std::max<size_t>(1, utf8_length(std::string_view(text).substr(at)));
    if (text[at] == '\n' || used == width) {
      lines.emplace_back();
      used = 0;
      if (text[at] == '\n') continue;
    }
    lines.back() += text.substr(at, length);
    ++used;
  }
  return lines;
}

// Returns these columns of a row, the first `left` aligned to the left.
static std::string text_of(const Table::Row& row, const std::vector<size_t>& columns,
                           const std::vector<size_t>& widths, size_t left) {
  std::vector<std::vector<std::string>> cells;
  size_t height = 0;
  for (const size_t i : columns) {
    cells.push_back(i < row.size() ? lines_in(row[i], widths[i]) : std::vector<std::string>{});
    height = std::max(height, cells.back().size());
  }
  std::string text;
  for (size_t at = 0; at < height; ++at) {
    std::string line;
    for (size_t i = 0; i < columns.size(); ++i) {
      const std::string cell = at < cells[i].size() ? cells[i][at] : "";
      const std::string spaces(widths[columns[i]] - std::min(widths[columns[i]], code_points(cell)),
                               ' ');
      line += (i == 0 ? "" : std::string(column_gap, ' ')) +
              (columns[i] < left ? cell + spaces : spaces + cell);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string Table::text(size_t left, int width) const {
  std::vector<size_t> widths;
  std::vector<Row> shown = rows;
  for (Row& row : shown) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = one_line(row[i]);
      if (row.size() > 1) widths[i] = std::max(widths[i], code_points(row[i]));
    }
  }
  const size_t limit = width > 0 ? static_cast<size_t>(width) : std::string::npos;
  left = std::min(left, widths.size());
  fit(widths, left, limit);
  std::string text;
  std::vector<size_t> columns;
  size_t used = 0, next = 0;
  const auto add_column = [&] {
    columns.push_back(next);
    used += widths[next++] + column_gap;
  };
  while (!shown.empty()) {
    while (next < left) add_column();
    while (next < widths.size() && (columns.size() == left || used + widths[next] <= limit))
      add_column();
    for (const Row& row : shown)
      text += row.size() == 1 ? wrapped(row[0], width) + '\n' : text_of(row, columns, widths, left);
    if (next == widths.size()) break;
    for (; columns.size() > left; columns.pop_back()) used -= widths[columns.back()] + column_gap;
    text += '\n';
  }
  for (const std::string& note : notes) text += wrapped(one_line(note), width) + '\n';
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
  for (const std::string& note : notes) text += "% " + one_line(note) + '\n';
  return text;
}

}  // namespace heed
