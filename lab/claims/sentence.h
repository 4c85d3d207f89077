// "The sleepy child reads a book": six words with keys of width 3 and a value each (White, "Deep
// learning for molecules and materials", equations 12.1 and 12.2). The query is "book".
#pragma once

#include "lab/claims/samples.h"

namespace heed::claims::sentence {

// Changes an option of the layer, which is softmax(q·k) without it.
using Change = std::function<void(MultiHeadOptions&)>;
inline void unchanged(MultiHeadOptions&) {}
inline void scaled(MultiHeadOptions& o) { o.similarity.kind = &similarities::scaled_dot; }

// The scores of "book" with every word: (1, 1, 1, 6).
Tensor scores(const SimilarityRule* kind = &similarities::dot);
// The output of MultiHeadAttention for each word as the query: (1, 6, 1).
Tensor outputs(const Change& change = unchanged);
// The output for "book".
double book_output(const Change& change = unchanged);

}  // namespace heed::claims::sentence
