// Data of vectors in place of tokens: pixels, frames of sound, nodes of a graph.
//
// An example has T positions, each with a vector of F features. Edges may connect positions. In a
// batch, padding has the features 0 and no edges. The edges of all examples are in one list.
//
// Targets may be numbers, too, whatever the positions hold. `target` then has 0 at a position with
// a number and `ignored` at others.
#pragma once

#include "data/batch.h"
#include "data/dataset.h"

namespace heed {

// What all examples of a dataset hold.
struct ExampleFormat {
  int64_t features = 0;       // F; 0: positions hold tokens
  bool has_edges = false;     // between positions
  int64_t edge_features = 0;  // features of an edge
  int64_t global = 0;         // numbers of a graph as a whole, U
  bool position_ids = false;  // in place of 0 to T - 1: Example::position_ids
  bool numbers = false;       // targets are numbers: Example::values
  // Each position has a target or none: a classifier with model.pool = "none", or a language model
  // that does not predict the token after each position, but what the example says.
  bool at_positions = false;
  // Besides features, an example has tokens as Example::source: a second source.
  bool two_sources = false;
  int64_t positions = 0;  // of an encoder-decoder with two sources: T, that of all examples
  // Of a classifier with model.pool = "queries", whose outputs are not at the positions of the
  // input: the number of targets, which all examples have. 0: one at each position.
  int64_t targets = 0;
};

// Returns a dataset of examples with features, which `write` writes as Dataset::get does, all but
// their `positions` and, where targets are numbers, `target`. Its get() throws Error if they do not
// fill their positions or edges.
Dataset feature_dataset(ExampleFormat format, int64_t size,
                        std::function<void(int64_t i, Example& example)> write);

}  // namespace heed
