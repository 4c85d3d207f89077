// A task is a rule from a source to a target, such as sorting. Sources are listed or drawn.
//
// A source is independent ids below `base`, of a length within `lengths`. data/framing.h lays
// source and target out for a model, with <bos>, <sep> and <eos>. data/generated.h makes datasets.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/random.h"

namespace heed {

struct Lengths {
  int64_t least, most;
};

struct SequencePair {
  std::vector<int32_t> source, target;
};

struct SequenceTask {
  std::vector<std::string> tokens;  // by id, without special tokens
  int64_t base;
  Lengths lengths;
  // Writes the target of a source, and may rewrite the source. Returns false for a source without a
  // target, such as a division by zero.
  std::function<bool(SequencePair&)> solve;

  // Draws a random pair. All lengths are equally likely.
  void draw(Random& random, SequencePair& pair) const;
  // The number of sources, at most `limit`.
  int64_t count(int64_t limit) const;
  // Writes pair i < count(), in the order of length, then of value. Returns false if this source
  // has no target.
  bool list(int64_t i, SequencePair& pair) const;
};

// A task whose source is numbers below `symbols`. A number is one token and its own id.
SequenceTask number_task(int64_t symbols, Lengths lengths, void (*solve)(SequencePair&));

// Each is in a file of its name, which shows examples.
SequenceTask reverse_task(int64_t symbols, Lengths lengths);
SequenceTask sort_task(int64_t symbols, Lengths lengths);

// The names prefix0, prefix1, …
std::vector<std::string> numbered(int64_t count, const char* prefix = "");

// Uniform in [0, count).
inline int32_t any_below(Random& random, int64_t count) {
  return static_cast<int32_t>(random.below(static_cast<uint64_t>(count)));
}

// Uniform over the lengths.
inline int64_t any_length(Random& random, Lengths lengths) {
  return lengths.least + any_below(random, lengths.most - lengths.least + 1);
}

}  // namespace heed
