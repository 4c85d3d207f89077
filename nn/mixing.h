// The sublayer in which the positions of a sequence exchange information: attention, or a
// replacement for it.
#pragma once

#include "nn/module.h"
#include "nn/sequence_context.h"

namespace heed::inline HEED_REAL {

class Mixing : public Module {
 public:
  // x (B, T, D) → (B, T, D)
  virtual Tensor operator()(const Tensor& x, const SequenceContext& sequence) const = 0;
  // Returns whether it can continue from a past. Otherwise it reads all positions again.
  virtual bool can_cache() const { return false; }
};

// A mixing whose positions can also read another sequence.
class Attention : public Mixing {
 public:
  // x (B, Tq, D), memory (B, Tk, Dm) → (B, Tq, D). `mask` is for the memory. With a past, the
  // memory is read at the first call only.
  virtual Tensor across(const Tensor& x, const Tensor& memory, const KeepMask& mask,
                        Past* past = nullptr) const = 0;
};

}  // namespace heed::inline HEED_REAL
