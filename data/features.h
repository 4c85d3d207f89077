// Data of vectors in place of tokens: pixels, frames of sound, nodes of a graph.
//
// An example has T positions, each with a vector of F features. Edges may connect positions. In a
// batch, padding has the features 0 and no edges. The edges of all examples are in one list.
#pragma once

#include "data/batch.h"
#include "data/dataset.h"

namespace heed {

// What all examples of a dataset hold.
struct ExampleFormat {
  int64_t features = 0;       // F; 0: positions hold tokens
  bool has_edges = false;     // between positions
  int64_t edge_features = 0;  // features of an edge
};

// Returns a dataset of examples with features, which `write` writes as Dataset::get does, all but
// their `positions`. Its get() throws Error if they do not fill their positions or edges.
Dataset feature_dataset(ExampleFormat format, int64_t size,
                        std::function<void(int64_t i, Example& example)> write);

}  // namespace heed
