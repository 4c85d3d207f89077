// Settings that operations read besides their inputs: whether to record gradients, whether this is
// training, which random stream is next. Each thread has its own Scope. A block changes it:
//
//   ScopeGuard here;  // restores the settings at the end of the block
//   here->training = true;
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/random.h"

namespace heed::inline HEED_REAL {

enum class Precision : int;  // of matrix products; only fast kernels read it

struct Scope {
  bool gradients = true;   // operations record how to differentiate them
  bool training = false;   // dropout is active
  bool initialise = true;  // new parameters are filled; off for those that are loaded later
  // Operations check shapes and record their backward, but compute no values: loops run nothing,
  // tensors and ids are neither read nor written, item() is 0, and memory is counted but not
  // touched. The cost of a step is computed in this way, even for a model larger than the machine.
  bool shapes_only = false;
  Precision precision{};  // 0: products of the elements, not of rounded ones

  // The names of the random streams drawn in this scope: see core/random.h. A micro-batch is a part
  // of a step's batch. Settings that change during training (a temperature) also read `step`; an
  // evaluation sets it to the step of the weights.
  uint64_t seed = 0;
  uint32_t step = 0, micro_batch = 0;  // their numbers in the training
  uint32_t calls = 0;                  // streams drawn so far in this micro-batch

  // Returns the next stream, and counts it.
  StreamKey next_stream(Purpose purpose) {
    return StreamKey(seed, purpose, step, micro_batch, calls++);
  }
};

namespace detail {
// Initialised at compile time, so that reading it is a load without a call.
inline constinit thread_local Scope current_scope;
}  // namespace detail

// The settings of the calling thread.
inline Scope& scope() { return detail::current_scope; }

// Changes one value until the end of the block. Guards of the same value must nest.
template <class T>
class ValueGuard {
 public:
  ValueGuard(T& variable, T value) : variable_(variable), outer_(std::exchange(variable, value)) {}
  ~ValueGuard() { variable_ = outer_; }
  ValueGuard(const ValueGuard&) = delete;
  ValueGuard& operator=(const ValueGuard&) = delete;

 private:
  T& variable_;
  T outer_;
};

// Operations record nothing until the end of the block: NoGradients here;
class NoGradients {
  const ValueGuard<bool> guard_{scope().gradients, false};
};

// Restores the settings at the end of the block. `calls` counts on, so that no stream drawn in the
// block is drawn again after it; to repeat draws, set `calls` yourself.
class ScopeGuard {
 public:
  ScopeGuard() = default;
  ~ScopeGuard() {
    outer_.calls = std::max(outer_.calls, scope().calls);
    scope() = outer_;
  }
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;

  Scope* operator->() const { return &scope(); }

 private:
  Scope outer_ = scope();
};

}  // namespace heed::inline HEED_REAL
