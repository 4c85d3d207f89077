// The first examples of a dataset.
#pragma once

#include <algorithm>
#include <functional>

#include "data/dataset.h"

namespace heed {

// Returns at most `count` examples. `all` must outlive them.
inline Dataset first_of(const Dataset& all, int64_t count) {
  return {std::min(count, all.size), std::cref(all.get), std::cref(all.collate)};
}

}  // namespace heed
