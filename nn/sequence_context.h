// What a layer may know of a sequence besides its vectors, and the part of a layer that lets places
// exchange what they hold.
#pragma once

#include "core/mask.h"
#include "nn/module.h"

namespace heed::inline HEED_REAL {

// A directed graph over the places of a batch: edge e goes from place sender[e] to receiver[e],
// both counted over all examples, b · T + t.
struct Edges {
  Ids sender, receiver;  // (E), or none at all
  Tensor features;       // (E, F), or no tensor

  explicit operator bool() const { return static_cast<bool>(sender); }
  // Throws Error, naming `operation`, unless every edge joins two places of one of `batch` examples
  // of `time` places.
  void check_fits(const char* operation, int64_t batch, int64_t time) const;
};

class KeyValueCache;

struct SequenceContext {
  KeepMask mask;  // its key_lengths say how many places of each row are real
  Edges edges;
  // Of a decoder: the places that come before those of x, which are then kept as well; or null.
  KeyValueCache* cache = nullptr;
};

// Attention, or what may stand in its place: a convolution, a recurrent network, a dense layer over
// time.
class Mixing : public Module {
 public:
  // x (B, T, D) → (B, T, D)
  virtual Tensor operator()(const Tensor& x, const SequenceContext& around) const = 0;
  // Whether it can go on from a cache. What cannot must be given all places again.
  virtual bool can_cache() const { return false; }
};

}  // namespace heed::inline HEED_REAL
