// Examples by index. Sampling and batching are built on top (data/sampler.h, data/batch.h).
//
// An example has T positions. Each holds a token, or, for continuous data (a pixel, a frame of
// sound, a node of a graph), a vector of F features. Edges may connect positions.
#pragma once

#include <cstdint>
#include <vector>

#include "core/fields.h"

namespace heed {

// How an example is laid out for a model.
enum class Framing { language_model, seq2seq, classifier };
inline constexpr Named<Framing> framings[] = {{"language_model", Framing::language_model},
                                              {"seq2seq", Framing::seq2seq},
                                              {"classifier", Framing::classifier}};

// What all examples of a dataset hold.
struct ExampleFormat {
  int64_t features = 0;       // F; 0: positions hold tokens
  bool has_edges = false;     // between positions
  int64_t edge_features = 0;  // features of an edge
};

// Seq2seq: the source, the input <bos> y… and the target y… <eos>.
// Language model: the input x[0..n-1) and the target x[1..n), -1 where the next token is not
// learned. No source.
// Classifier: the input, tokens, and the target, one label. No source.
struct Example {
  std::vector<int32_t> source;
  std::vector<int32_t> input;
  std::vector<int32_t> target;
  int32_t prompt = 0;  // language model of a task: number of inputs in the prompt

  // As the format says. Features replace `source`, or the `input` of a classifier.
  std::vector<float> features;            // (T, F)
  std::vector<int32_t> sender, receiver;  // (E): edge e leads from sender[e] to receiver[e]
  std::vector<float> edge_features;       // (E, format.edge_features)
};

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  virtual ExampleFormat format() const { return {}; }
  // Writes example i, 0 ≤ i < size(), into `example`, whose vectors keep their capacity. The same i
  // always gives the same example. Not thread-safe.
  virtual void get(int64_t i, Example& example) const = 0;
};

}  // namespace heed
