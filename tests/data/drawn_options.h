// Small options for every task that draws whole examples, without noise.
#pragma once

#include "support.h"

namespace heed {

using Ints = std::vector<int32_t>;

inline std::vector<const DataKind*> drawn_kinds() {
  std::vector<const DataKind*> kinds;
  for (const DataKind* kind : data_kinds::all)
    if (kind->task) kinds.push_back(kind);
  return kinds;
}

inline DataOptions drawn_options(const DataKind* kind) {
  struct Small {
    const DataKind* kind;
    std::vector<int64_t> lengths;
    int64_t symbols;
  };
  static const Small sizes[] = {{&data_kinds::graph, {8, 16}, 4},
                                {&data_kinds::streams, {1, 4}, 12},
                                {&data_kinds::set, {5, 9}, 7},
                                {&data_kinds::subject, {9, 12}, 5},
                                {&data_kinds::recall, {2, 4}, 6}};
  DataOptions options;
  options.kind = kind;
  if (kind->uses("noise")) options.noise = 0;
  if (kind == &data_kinds::video) options.size = 5;
  for (const Small& small : sizes) {
    if (small.kind != kind) continue;
    options.lengths = small.lengths;
    options.symbols = small.symbols;
  }
  return options;
}

inline Corpus drawn(const DataOptions& options, uint64_t seed = 1) {
  return load_corpus(options, options.kind->framings[0], seed);
}

}  // namespace heed
