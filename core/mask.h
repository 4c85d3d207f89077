// Which keys a query may read: not later ones, and no padding.
#pragma once

#include <cstdint>

#include "core/ids.h"

namespace heed::inline HEED_REAL {

// A key is kept if all parts keep it. Only `dense` is stored as a matrix. A query without any key
// gives zeros and a zero gradient.
//
// Queries and keys are aligned at their ends: query i of Tq has the position of key i + Tk - Tq.
struct KeepMask {
  bool causal = false;   // hides keys after the position of the query
  int64_t window = 0;    // if > 0: hides keys at a distance of `window` positions or more
  Ids key_lengths = {};  // (B), if set: hides all but the first key_lengths[b] keys
  Ids dense = {};        // (B or 1, H or 1, Tq, Tk), if set: hides keys where it is 0

  // Counts modifications of the ids.
  uint32_t version() const { return key_lengths.version() + dense.version(); }
  // Returns whether no part is set.
  bool hides_nothing() const { return !causal && window == 0 && !key_lengths && !dense; }
  // Throws Error with the name of the operation if a part does not fit these sizes.
  void check_fits(const char* operation, int64_t batch, int64_t heads, int64_t queries,
                  int64_t keys) const;

  struct KeyRange {
    int64_t first, last;  // [first, last)
  };
  // The keys that all parts but `dense` keep for query i of example b.
  KeyRange keys_for(int64_t b, int64_t i, int64_t queries, int64_t keys) const;
  // Row i of `dense` for example b and head h; null if there is no dense part.
  const int32_t* dense_row(int64_t b, int64_t h, int64_t i) const;
  // Returns whether query i of example b and head h may read key j.
  bool keeps(int64_t b, int64_t h, int64_t i, int64_t j, int64_t queries, int64_t keys) const;
};

}  // namespace heed::inline HEED_REAL
