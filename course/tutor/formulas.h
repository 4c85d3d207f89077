// Formulas for a terminal.
#pragma once

#include <string>

namespace heed {

// Writes the formulas of a Markdown text, $…$ and $$…$$ in TeX, in Unicode: "$x_t \cdot W^Q$"
// becomes "xₜ · W^Q", and \frac{a + b}{2} becomes (a + b)/2. A $$…$$ gets lines of its own, which
// are indented. Code stays as it is, and so does a $ without an end.
std::string formulas_as_text(const std::string& markdown);

}  // namespace heed
