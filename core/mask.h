// Who may attend to whom: true = may. (A bias added to scores is another thing and has another
// type.)
#pragma once

#include <cstdint>

#include "core/ids.h"

namespace heed::inline HEED_REAL {

// The structured parts are never written out as a matrix. They combine by "and". A query that may
// attend to nothing gets zeros, and a zero gradient.
//
// Queries and keys are aligned at their ends: query i of Tq stands at key i + Tk - Tq.
struct KeepMask {
  bool causal = false;   // no key after the query's place
  int64_t window = 0;    // if > 0, only keys less than `window` places away from the query's
  Ids key_lengths = {};  // (B), if any: only the first key_lengths[b] keys
  Ids dense = {};        // (B or 1, H or 1, Tq, Tk), if any: 0 = may not

  bool hides_nothing() const { return !causal && window == 0 && !key_lengths && !dense; }
  // Throws Error, naming `operation`, if a part does not fit attention of these sizes.
  void check_fits(const char* operation, int64_t batch, int64_t heads, int64_t queries,
                  int64_t keys) const;

  struct KeyRange {
    int64_t first, last;  // [first, last)
  };
  // The keys that the structured parts let query i of example b see; of those, `dense` may hide
  // some.
  KeyRange keys_for(int64_t b, int64_t i, int64_t queries, int64_t keys) const;
  // Row i of `dense` for example b and head h; null without one.
  const int32_t* dense_row(int64_t b, int64_t h, int64_t i) const;
  bool keeps(int64_t b, int64_t h, int64_t i, int64_t j, int64_t queries, int64_t keys) const;
};

}  // namespace heed::inline HEED_REAL
