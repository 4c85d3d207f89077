// Counts the rows that sum_normalize() cannot normalise.
//
//   int64_t rows = 0;
//   const ValueGuard<int64_t*> here(rows_without_sum_counter, &rows);
#pragma once

#include <cstdint>

#include "core/scope.h"

namespace heed::inline HEED_REAL {

// If set, sum_normalize() adds the number of rows whose sum was too small. One per thread.
inline constinit thread_local int64_t* rows_without_sum_counter = nullptr;

}  // namespace heed::inline HEED_REAL
