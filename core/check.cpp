// Defines check.h: the functions that throw.
#include "core/check.h"

#include <fmt/format.h>

namespace heed::inline HEED_REAL {

void throw_error(fmt::string_view format, fmt::format_args args) {
  throw Error(fmt::vformat(format, args));
}

void throw_input_error(fmt::string_view format, fmt::format_args args) {
  throw InputError(fmt::vformat(format, args));
}

}  // namespace heed::inline HEED_REAL
