// The frame, the style sheet and the joined modules of the pages, as cmake/embed.cmake puts them
// into the program.
#pragma once

#include <string_view>

namespace heed::page_files {

extern const std::string_view frame, style, script;

}  // namespace heed::page_files
