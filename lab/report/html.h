// Pieces of HTML.
#pragma once

#include <string>
#include <vector>

namespace heed {

// Returns escaped() text (core/text.h) for HTML, in elements and in attributes.
std::string html(std::string_view text);

// A cell of a table: HTML, its classes, and whether it is the head of its row or column.
struct Cell {
  std::string html;
  std::string style = "";
  bool head = false;
};
std::string html_row(const std::vector<Cell>& cells, const std::string& style = "");
// Returns a table that scrolls where it is too wide, of rows as html_row() makes them.
std::string html_table(std::vector<Cell> heads, const std::string& rows,
                       const std::string& style = "");

using Cells = std::vector<std::string>;  // text, not HTML
// Returns a table of texts. After the first `texts` columns, columns are numbers.
std::string html_table(const Cells& heads, const std::vector<Cells>& rows, size_t texts = 1);

// A part of a page. `note` and `content` are HTML; a section without content is left out.
struct Section {
  const char *id, *heading;
  std::string note, content;
};
std::string html_section(const Section& section);
// Returns a state of a run with its mark. `state` is its name, `text` what is said of it.
std::string html_state(const std::string& state, const std::string& text);
// Returns the links to the sections that have content.
std::string html_contents(const std::vector<Section>& sections);

// Returns a part that a click unfolds. `summary` is text, `content` HTML.
std::string html_fold(const std::string& summary, const std::string& content);
// Returns a place that scripts draw into, and what stands there without them. `content` is HTML.
std::string html_drawing(const char* name, const std::string& content);
// Returns a command with a button that copies it.
std::string html_command(const std::string& command);

// Returns JSON as a script element that holds data: no value in it can end the element.
std::string html_data(const char* id, const std::string& json);

}  // namespace heed
