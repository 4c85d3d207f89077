// What the tests of drawn examples share: small options for each task, without noise.
#pragma once

#include "support.h"

namespace heed {

using Ints = std::vector<int32_t>;

inline DataOptions drawn_options(DataKind kind) {
  DataOptions options;
  options.kind = kind;
  if (kind == DataKind::shapes || kind == DataKind::video || kind == DataKind::streams)
    options.noise = 0;
  if (kind == DataKind::video) options.size = 5;
  if (kind == DataKind::graph) options.lengths = {8, 16};
  if (kind == DataKind::graph) options.symbols = 4;
  if (kind == DataKind::streams) options.lengths = {1, 4};
  if (kind == DataKind::streams) options.symbols = 12;
  if (kind == DataKind::set) options.lengths = {5, 9};
  if (kind == DataKind::set) options.symbols = 7;
  if (kind == DataKind::subject) options.lengths = {9, 12};
  if (kind == DataKind::subject) options.symbols = 5;
  if (kind == DataKind::recall) options.lengths = {2, 4};
  if (kind == DataKind::recall) options.symbols = 6;
  return options;
}

inline Framing framing_of(DataKind kind) {
  return kind == DataKind::streams  ? Framing::seq2seq
         : kind == DataKind::recall ? Framing::language_model
                                    : Framing::classifier;
}

inline Corpus drawn(const DataOptions& options, uint64_t seed = 1) {
  return load_corpus(options, framing_of(options.kind), seed);
}

inline constexpr DataKind all_kinds[] = {DataKind::shapes,  DataKind::video, DataKind::graph,
                                         DataKind::streams, DataKind::set,   DataKind::subject,
                                         DataKind::recall};

}  // namespace heed
