// Defines mask.h: the check of a mask, then what it keeps.
#include "core/mask.h"

#include <algorithm>

#include "core/scope.h"

namespace heed::inline HEED_REAL {

void KeepMask::check_fits(const char* operation, int64_t batch, int64_t heads, int64_t queries,
                          int64_t keys) const {
  check(window >= 0, "{}: a window of {} keys", operation, window);
  if (key_lengths) {
    check(key_lengths.shape() == Shape{batch}, "{}: key lengths must have shape [{}], have {}",
          operation, batch, key_lengths.shape());
    for (int64_t b = 0; b < batch && !scope().shapes_only; ++b)
      check(key_lengths[b] >= 0 && key_lengths[b] <= keys,
            "{}: example {} has a length of {}, there are {} keys", operation, b, key_lengths[b],
            keys);
  }
  if (!dense) return;
  const Shape& s = dense.shape();
  check(s.rank() == 4 && (s[0] == batch || s[0] == 1) && (s[1] == heads || s[1] == 1) &&
            s[2] == queries && s[3] == keys,
        "{}: a dense mask must have shape [{} or 1, {} or 1, {}, {}], has {}", operation, batch,
        heads, queries, keys, s);
}

KeepMask::KeyRange KeepMask::keys_for(int64_t b, int64_t i, int64_t queries, int64_t keys) const {
  const int64_t position = i + keys - queries;
  int64_t first = 0, last = key_lengths ? key_lengths[b] : keys;
  if (causal) last = std::min(last, position + 1);
  if (window > 0) {
    first = std::max(first, position - window + 1);
    last = std::min(last, position + window);
  }
  last = std::max<int64_t>(last, 0);
  return {std::min(first, last), last};
}

const int32_t* KeepMask::dense_row(int64_t b, int64_t h, int64_t i) const {
  if (!dense) return nullptr;
  const Shape& s = dense.shape();
  const int64_t row = ((s[0] == 1 ? 0 : b) * s[1] + (s[1] == 1 ? 0 : h)) * s[2] + i;
  return dense.data() + row * s[3];
}

bool KeepMask::keeps(int64_t b, int64_t h, int64_t i, int64_t j, int64_t queries,
                     int64_t keys) const {
  const KeyRange range = keys_for(b, i, queries, keys);
  const int32_t* row = dense_row(b, h, i);
  return j >= range.first && j < range.last && (!row || row[j] != 0);
}

}  // namespace heed::inline HEED_REAL
