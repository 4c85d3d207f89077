// "The sleepy child reads a book": six words as keys of width 3, and a value each (White, "Deep
// learning for molecules and materials", equations 12.1 and 12.2). The query is "book".
#pragma once

#include "theorems/samples.h"

namespace heed::theorems {

using Change = std::function<void(MultiHeadOptions&)>;

struct Sentence {
  static Tensor keys();    // (1, 1, 6, 3)
  static Tensor values();  // (1, 6, 1)
  // Of "book" with every word: (1, 1, 1, 6)
  static Tensor scores(SimilarityKind kind = SimilarityKind::dot);
  // What each word reads of the values, (1, 6, 1), through the layer that models use; `change`
  // says how it differs from softmax(q·k).
  static Tensor readings(const Change& change);
  static double book_reads(const Change& change);
};

inline void as_it_is(MultiHeadOptions&) {}
inline void scaled_by_root(MultiHeadOptions& o) { o.similarity.kind = SimilarityKind::scaled_dot; }
inline Change at_temperature(double t) {
  return [t](MultiHeadOptions& o) { o.temperature.initial = t; };
}

}  // namespace heed::theorems
