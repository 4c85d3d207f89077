// The first examples of a dataset, and the split that shows what training does.
#pragma once

#include <algorithm>
#include <functional>

#include "data/corpus.h"
#include "data/dataset.h"

namespace heed {

// Returns at most `count` examples. `all` must outlive them.
inline Dataset first_of(const Dataset& all, int64_t count) {
  return {std::min(count, all.size), std::cref(all.get), std::cref(all.collate)};
}

// Returns the validation split, or the training split of a corpus without one.
inline const Dataset& measured_split(const Corpus& corpus) {
  const auto val = corpus.splits.find("val");
  return val != corpus.splits.end() ? val->second : corpus.splits.at("train");
}

}  // namespace heed
