// Examples by number. Sampling, batching and padding stand on top (data/sampler.h, data/batch.h).
#pragma once

#include <cstdint>
#include <vector>

namespace heed {

// How an example is laid out for a model.
enum class Framing { language_model, seq2seq, classifier };
inline constexpr const char* framing_names[] = {"language_model", "seq2seq", "classifier"};

struct Example {
  std::vector<int32_t> source;  // seq2seq: what the encoder reads; empty otherwise
  std::vector<int32_t> input;  // seq2seq: <bos> y…; language model: x[0..n-1); classifier: tokens
  std::vector<int32_t> target;  // seq2seq: y… <eos>; language model: x[1..n), -1 where the next
                                // symbol is not to be learned; classifier: one label
  int32_t prompt = 0;  // language model of a task: how many inputs come first and are given
};

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  // Writes example i, 0 ≤ i < size(), into `example`, whose vectors keep their capacity. The same i
  // always gives the same example. A dataset belongs to one thread.
  virtual void get(int64_t i, Example& example) const = 0;
};

}  // namespace heed
