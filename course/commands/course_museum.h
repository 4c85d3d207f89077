// heed course museum: lists the exhibits, or shows one.
#pragma once

#include <string>

namespace heed {

// Lists the exhibits if `name` is empty. Returns the exit code: failed if what an exhibit shows is
// not what its text says.
int course_museum(const std::string& name, bool json);

}  // namespace heed
