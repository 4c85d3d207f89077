// What the program reads in the texts of the course: headings, and the names that they mention.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

// "# 4. Attention\n…" → "4. Attention"
std::string heading_of(const std::string& text);

// The names after each `words`, such as "heed course start ", in order.
std::vector<std::string> names_after(std::string_view words, const std::string& text);

// The lines of a text, without their ends.
std::vector<std::string> text_lines(const std::string& text);

// The texts of the chapters, in order: the files in the folder that begin with a number.
std::vector<std::string> chapter_texts(const std::string& folder);

}  // namespace heed
