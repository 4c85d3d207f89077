// What a layer may know of a sequence besides its vectors: a mask, the edges of a graph, and the
// positions that a decoder has read before.
#pragma once

#include "core/mask.h"
#include "core/tensor.h"

namespace heed::inline HEED_REAL {

// A directed graph over the positions of a batch: edge e goes from position sender[e] to position
// receiver[e], both counted over all examples, b · T + t.
struct Edges {
  Ids sender = {}, receiver = {};  // (E), or none
  Tensor features = {};            // (E, F), or no tensor

  explicit operator bool() const { return static_cast<bool>(sender); }
  // Throws Error, naming `operation`, unless every edge joins two positions of one of `batch`
  // examples of `time` positions.
  void check_fits(const char* operation, int64_t batch, int64_t time) const;
};

class KeyValueCache;

struct SequenceContext {
  KeepMask mask = {};  // its key_lengths are the numbers of real positions of the examples
  Edges edges = {};
  // For a decoder: the positions before those of x; those of x are appended. Null: x is everything.
  KeyValueCache* cache = nullptr;
};

}  // namespace heed::inline HEED_REAL
