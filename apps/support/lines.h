// Splits a text into lines.
#pragma once

#include <string>
#include <vector>

namespace heed {

// Returns the lines of a text, without their ends.
std::vector<std::string> text_lines(const std::string& text);

}  // namespace heed
