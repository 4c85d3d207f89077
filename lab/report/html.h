// Pieces of HTML.
#pragma once

#include <string>
#include <vector>

namespace heed {

// Returns escaped() text (core/text.h) for HTML, in elements and in attributes.
std::string html(std::string_view text);

using Cells = std::vector<std::string>;  // text, not HTML

// Returns a table. After the first `texts` columns, columns are numbers.
std::string html_table(const Cells& heads, const std::vector<Cells>& rows, size_t texts = 1);

// A part of a page. `note` and `content` are HTML; a section without content is left out.
struct Section {
  const char *id, *heading;
  std::string note, content;
};
std::string html_section(const Section& section);
// Returns the links to the sections that have content.
std::string html_contents(const std::vector<Section>& sections);

// Returns a place that scripts draw into, and what stands there without them. `content` is HTML.
std::string html_drawing(const char* name, const std::string& content);
// Returns a command with a button that copies it.
std::string html_command(const std::string& command);

// Returns JSON as a script element that holds data: no value in it can end the element.
std::string html_data(const char* id, const std::string& json);

}  // namespace heed
