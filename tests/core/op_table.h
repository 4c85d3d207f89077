// Rows of the op table, reported to doctest.
#pragma once

#include <doctest/doctest.h>

#include "core/gradcheck/op_check.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL::testing {

inline void check_rows(std::span<const OpRow> rows) {
  for (const OpRow& row : rows)
    for (const Failure& failure : check_row(row).failures) FAIL_CHECK(failure.text);
}

// A misuse of a row: MISUSE(exp(Tensor::zeros({2}), 1))
#define MISUSE(...) [=] { __VA_ARGS__; }

}  // namespace heed::inline HEED_REAL::testing
