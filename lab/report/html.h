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

// Returns a section with a heading, or "" if it has no content. `content` is HTML.
std::string html_section(const char* id, const char* heading, const std::string& content);

// Returns JSON as a script element that holds data: no value in it can end the element.
std::string html_data(const char* id, const std::string& json);

}  // namespace heed
