// The settings of a computation: one Scope per thread, changed until the end of a block.
//
//   ScopeGuard here;                 // restores all settings at the end of the block
//   here->gradients = false;
#pragma once

#include <cstdint>
#include <limits>
#include <utility>

#include "core/named.h"
#include "core/random.h"

namespace heed::inline HEED_REAL {

class Module;    // nn/module.h
class Observer;  // core/observer.h
class Ranks;     // core/ranks.h

// How products of float32 matrices are computed, in PyTorch's words ("float32 matmul precision").
// Everything else (activations, gradients, softmax, norms, the optimizer) stays in float32.
enum class Precision {
  highest,  // float32 products
  high,     // each float32 split into two bfloat16, three products
  medium,   // one product of bfloat16
};
inline constexpr Named<Precision> precision_names[] = {
    {"highest", Precision::highest}, {"high", Precision::high}, {"medium", Precision::medium}};

struct Scope {
  bool gradients = true;        // operations record how to differentiate them
  bool training = false;        // dropout is active
  bool detect_anomaly = false;  // an operation whose result is not finite throws
  bool initialise = true;       // new parameters are filled; off for those that are loaded later
  // Operations check shapes and record their backward, but compute no values: parallel_for runs
  // nothing, tensors and ids are neither read nor written, item() is 0, and memory is counted but
  // not touched. What a step costs is counted this way (core/observer.h), also for a model larger
  // than the machine.
  bool shapes_only = false;
  Precision precision = Precision::highest;
  int most_threads = std::numeric_limits<int>::max();  // of a parallel loop: see thread_count()

  // The random streams drawn in this scope: see core/random.h. Settings that change during training
  // (a temperature) also read `step`; an evaluation sets it to the step of the weights.
  uint64_t seed = 0;
  uint32_t step = 0, micro_batch = 0;
  uint32_t calls = 0;  // streams drawn so far in this micro-batch

  // Listeners and the current module. Set them with ObserverScope and ModuleScope, which nest.
  Observer* observer = nullptr;
  const Module* module = nullptr;
  // If set, sum_normalize() adds the number of rows whose sum was not positive.
  int64_t* rows_without_sum = nullptr;
  // The processes that this one trains with; none, if there is only this one.
  Ranks* ranks = nullptr;

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

// The precision that matrix products actually run in: `high` and `medium` become `highest` on a
// processor for which there is no bfloat16 kernel.
Precision effective_precision(Precision requested);

}  // namespace heed::inline HEED_REAL
