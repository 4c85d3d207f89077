// What a layer may know of a sequence besides its vectors x: a mask, the edges of a graph, and the
// positions read before.
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

class Module;

// Keys (B, Tk, H·K) and values (B, Tk, H·Kv) of attention. The first `length` of Tk positions are
// filled: a cache has room for more.
struct KeyValues {
  Tensor keys, values;
  int64_t length = 0;
};

// The keys and values of the positions that a decoder has read before.
class Past {
 public:
  virtual ~Past() = default;
  virtual int64_t length() const = 0;  // positions read so far, the same number in each row
  virtual void advance(int64_t positions) = 0;
  // Appends to the keys and values of a self-attention, and returns all.
  virtual const KeyValues& append(const Module& attention, const KeyValues& more) = 0;
  // Those of a cross-attention for the encoder's output. Without keys before the first call.
  virtual KeyValues& memory(const Module& attention) = 0;
};

struct SequenceContext {
  KeepMask mask = {};  // its key_lengths are the numbers of real positions of the examples
  Edges edges = {};
  // For a decoder: the positions before those of x; those of x are appended. Null: x is everything.
  Past* past = nullptr;
};

}  // namespace heed::inline HEED_REAL
