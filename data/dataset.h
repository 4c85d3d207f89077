// Examples by number. Sampling, batching and padding stand on top (data/sampler.h, data/batch.h).
//
// An example is made of places, T of them. Each holds a token, or, where the world is continuous (a
// pixel, a frame of sound, a node of a graph), a vector of F numbers. Edges may lead from place to
// place.
#pragma once

#include <cstdint>
#include <vector>

namespace heed {

// How an example is laid out for a model.
enum class Framing { language_model, seq2seq, classifier };
inline constexpr const char* framing_names[] = {"language_model", "seq2seq", "classifier"};

// What all examples of a dataset hold.
struct ExampleFormat {
  int64_t features = 0;       // F; 0: places hold tokens
  bool has_edges = false;     // from place to place
  int64_t edge_features = 0;  // numbers that an edge carries
};

struct Example {
  std::vector<int32_t> source;  // seq2seq: what the encoder reads; empty otherwise
  std::vector<int32_t> input;  // seq2seq: <bos> y…; language model: x[0..n-1); classifier: tokens
  std::vector<int32_t> target;  // seq2seq: y… <eos>; language model: x[1..n), -1 where the next
                                // symbol is not to be learned; classifier: one label
  int32_t prompt = 0;  // language model of a task: how many inputs come first and are given

  // Where the format says so. Features are in place of `source`, or of a classifier's `input`.
  std::vector<float> features;            // (T, F)
  std::vector<int32_t> sender, receiver;  // (E): each edge leads from a place of these to another
  std::vector<float> edge_features;       // (E, format.edge_features)
};

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  virtual ExampleFormat format() const { return {}; }
  // Writes example i, 0 ≤ i < size(), into `example`, whose vectors keep their capacity. The same i
  // always gives the same example. A dataset belongs to one thread.
  virtual void get(int64_t i, Example& example) const = 0;
};

}  // namespace heed
