// Errors and the one way to raise them.
//
// Everything that goes wrong is an exception thrown by the call that was asked to do it, whose text
// names the operation, the broken condition and what was given. There are two kinds, because a
// program answers them differently (exit code 1 or 2).
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>

#include "core/real.h"

namespace heed::inline HEED_REAL {

// The computation cannot go on: shapes that do not fit, a full disk, a loss that is not finite.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What the user gave cannot be used: a config, a file, a command line. The text says what, where
// and what to do instead.
class InputError : public Error {
 public:
  using Error::Error;
};

[[noreturn]] void throw_error(fmt::string_view format, fmt::format_args args);
[[noreturn]] void throw_input_error(fmt::string_view format, fmt::format_args args);

// check(x.rank() == 2, "linear: w must be a matrix, got {}", w.shape());
template <class... Args>
void check(bool holds, fmt::format_string<Args...> format, Args&&... args) {
  if (!holds) [[unlikely]]
    throw_error(format, fmt::make_format_args(args...));
}

// The same for what a user gave: throws InputError.
template <class... Args>
void check_input(bool holds, fmt::format_string<Args...> format, Args&&... args) {
  if (!holds) [[unlikely]]
    throw_input_error(format, fmt::make_format_args(args...));
}

}  // namespace heed::inline HEED_REAL
