// Data of vectors in place of tokens: pixels, frames of sound, nodes of a graph.
//
// An example has T positions, each with a vector of F features. Edges may connect positions. A
// dataset attaches these to its examples, and its collate() to batches, as `more`.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ids.h"
#include "core/tensor.h"
#include "data/batch.h"
#include "data/dataset.h"

namespace heed {

// What all examples of a dataset hold.
struct ExampleFormat {
  int64_t features = 0;       // F; 0: positions hold tokens
  bool has_edges = false;     // between positions
  int64_t edge_features = 0;  // features of an edge
};

// As the format says. Features replace the `source` of an example, or the `input` of a classifier.
struct ExampleFeatures {
  std::vector<float> features;            // (T, F)
  std::vector<int32_t> sender, receiver;  // (E): edge e leads from sender[e] to receiver[e]
  std::vector<float> edge_features;       // (E, format.edge_features)
};

// Padding has the features 0 and no edges. The edges of all examples are in one list.
struct BatchFeatures {
  // (B, T, F): replaces `source`, or the `input` of a classifier, whose lengths remain.
  Tensor features;
  Ids sender, receiver;  // (E): position t of row b is b · T + t, padding included
  Tensor edge_features;  // (E, format.edge_features)
};

// Returns what is attached. Without anything, all members are empty.
const ExampleFeatures& features_of(const Example& example);
const BatchFeatures& features_of(const Batch& batch);
// Returns it to be written, and attaches it if there is nothing.
ExampleFeatures& attach_features(Example& example);
BatchFeatures& attach_features(Batch& batch);

// Writes example i, as Dataset::get does, and the features that are attached to it.
using WriteFeatures = std::function<void(int64_t i, Example& example, ExampleFeatures& features)>;
// Returns a dataset of examples with features. Its get() throws Error if the features that `write`
// writes do not fill their positions or edges.
Dataset feature_dataset(ExampleFormat format, int64_t size, WriteFeatures write);

}  // namespace heed
