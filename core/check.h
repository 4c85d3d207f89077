// Every failure is an exception that names the operation, the rule and the numbers.
//
// The call that fails throws it. There are two types, because a program handles them differently
// (exit code 1 or 2).
#pragma once

#include <fmt/core.h>

#include <stdexcept>

#include "core/real.h"

namespace heed::inline HEED_REAL {

// The computation failed: shapes that do not fit, a full disk, a loss that is not finite.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The user's input is invalid: an option, a file, a command line. The text says what is wrong,
// where, and how to fix it. It names options in backquotes, as their struct's fields() does, the
// most likely culprit first: "`heads` = 3 must divide `dim` = 64".
class InputError : public Error {
 public:
  using Error::Error;
};

// Throw Error and InputError with a text of fmt, for check() and check_input().
[[noreturn]] void throw_error(fmt::string_view format, fmt::format_args args);
[[noreturn]] void throw_input_error(fmt::string_view format, fmt::format_args args);  // InputError

// check(x.rank() == 2, "linear: w must be a matrix, got {}", w.shape());
template <class... Args>
void check(bool holds, fmt::format_string<Args...> format, Args&&... args) {
  if (!holds) [[unlikely]]
    throw_error(format, fmt::make_format_args(args...));
}

// The same for the user's input: throws InputError.
template <class... Args>
void check_input(bool holds, fmt::format_string<Args...> format, Args&&... args) {
  if (!holds) [[unlikely]]
    throw_input_error(format, fmt::make_format_args(args...));
}

}  // namespace heed::inline HEED_REAL
