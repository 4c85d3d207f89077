// A view of `heed inspect` as a page, in the style of `heed report`.
#pragma once

#include <string>

#include "apps/support/table.h"

namespace heed {

// Returns a table of a view as HTML. Each number has a bar whose length is its part of the
// largest absolute value of its column.
std::string view_table(const Table& table);
// Returns one HTML file with that table, which loads nothing.
std::string inspect_page(const std::string& run, const std::string& view, const std::string& shows,
                         const Table& table);

}  // namespace heed
