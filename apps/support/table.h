// Tables of text, for a terminal, as CSV, as Markdown and as LaTeX.
#pragma once

#include <string>
#include <unistd.h>
#include <vector>

#include "apps/support/terminal.h"

namespace heed {

// Returns a text as a cell of CSV (RFC 4180): in quotes if it needs them.
std::string csv_cell(const std::string& text);
// Returns the lines of a cell: broken at spaces, and within words that are longer than `width`.
std::vector<std::string> lines_in(const std::string& cell, size_t width);

struct Table {
  using Row = std::vector<std::string>;
  // Of one length; the first is the heading. In text(), one of a single cell spans the table.
  std::vector<Row> rows;
  std::vector<std::string> notes;  // lines below the table; not in CSV

  // Aligned columns: the first `left` to the left, the others to the right. Cells are escaped. A
  // table wider than `width` is printed in blocks: each repeats the first `left` columns, whose
  // cells are wrapped where they would take more than half of it. 0: no limit.
  std::string text(size_t left = 1, int width = terminal_width(STDOUT_FILENO)) const;
  std::string csv() const;  // RFC 4180
  std::string markdown(size_t left = 1) const;
  // A tabular with the rules of the package booktabs. Notes are comments below it.
  std::string latex(size_t left = 1) const;
};

}  // namespace heed
