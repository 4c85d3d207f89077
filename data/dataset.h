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

struct Example {
  std::vector<int32_t> source;  // seq2seq: what the encoder reads; empty otherwise
  std::vector<int32_t> input;  // seq2seq: <bos> y…; language model: x[0..n-1); classifier: tokens
  std::vector<int32_t> target;  // seq2seq: y… <eos>; language model: x[1..n), -1 where the next
                                // token is not learned; classifier: one label
  int32_t prompt = 0;           // language model of a task: number of inputs in the prompt

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
