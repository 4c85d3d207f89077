// heed course museum: lists the pieces, or shows one.
#pragma once

#include <string>

namespace heed {

// Lists the pieces if `name` is empty. Returns the exit code: failed if what a piece shows is not
// what its text says.
int course_museum(const std::string& name, bool json);

}  // namespace heed
