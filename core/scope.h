// What surrounds a computation: one value a thread, changed for the length of a block.
//
//   ScopeGuard here;                 // restores the surroundings when the block ends
//   here->gradients = false;
#pragma once

#include <cstdint>

#include "core/random.h"

namespace heed::inline HEED_REAL {

// How products of float32 matrices are computed, in PyTorch's words ("float32 matmul precision").
// Everything else (activations, gradients, softmax, norms, the optimizer) stays in float32.
enum class Precision {
  highest,  // float32 products
  high,     // each float32 split into two bfloat16, three products
  medium,   // one product of bfloat16
};

struct Scope {
  bool gradients = true;        // operations remember how they were made
  bool training = false;        // dropout drops
  bool detect_anomaly = false;  // the first operation to make a number that is not finite throws
  bool shapes_only = false;     // weights are made but not filled: for counting, memory untouched
  Precision precision = Precision::highest;

  // Names the random streams drawn inside: see core/random.h. The step of training is also what
  // anything that changes as training goes on (a temperature) is told by; evaluating sets it to the
  // step that the weights are from.
  uint64_t seed = 0;
  uint32_t step = 0, micro_batch = 0;
  uint32_t calls = 0;  // streams drawn so far in this micro-batch

  StreamKey next_stream(Purpose purpose) {
    return StreamKey(seed, purpose, step, micro_batch, calls++);
  }
};

// The surroundings of the calling thread.
Scope& scope();

class ScopeGuard {
 public:
  ScopeGuard() : saved_(scope()) {}
  ~ScopeGuard() { scope() = saved_; }
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;
  Scope* operator->() const { return &scope(); }

 private:
  Scope saved_;
};

// The precision products really run in here: `high` and `medium` need a bfloat16 kernel for this
// processor, and are `highest` where there is none.
Precision effective_precision(Precision wanted);

}  // namespace heed::inline HEED_REAL
