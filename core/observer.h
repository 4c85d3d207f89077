// Observes a computation: which operations run, in which order, what they cost and allocate.
//
//   class Calls final : public Observer {
//     void op_finished(const char* name, …) noexcept override { ++calls[name]; }
//   };
//   Calls calls;
//   const ObserverScope here(calls);  // until the block ends
//   model.loss(inputs, targets);
//
// What a step *would* cost is observed in the same way, in a scope with shapes_only: the same
// operations run, with the same allocations and the same number of multiplications, but no value is
// computed and no memory touched:
//
//   FlopCounter counter;
//   {
//     ScopeGuard scope;
//     scope->shapes_only = true;
//     const ObserverScope here(counter);
//     backward(model.loss(inputs, targets));
//   }
//   counter.flops();
//
// Without an observer an operation costs one more branch.
#pragma once

#include <cstdint>
#include <span>

#include "core/scope.h"

namespace heed::inline HEED_REAL {

class Tensor;
struct Node;
struct Slot;

// Base of all observers. The functions must neither use the pool nor throw.
class Observer {
 public:
  // The innermost of this thread, or null. Set it with ObserverScope.
  static inline constinit thread_local Observer* current = nullptr;

  virtual ~Observer() = default;
  // The operation `name` computed y; `node` is its node in the graph, or null if nothing was
  // recorded. Called by record(), when the operation is done: all that the thread did since the
  // call before belongs to it.
  virtual void op_finished(const char* /*name*/, const Tensor& /*y*/,
                           std::span<const Tensor> /*inputs*/, const Node* /*node*/) noexcept {}
  // The backward closure of a node begins and ends. At its end `output` still holds the gradient
  // that it read.
  virtual void backward_started(const Node& /*node*/) noexcept {}
  virtual void backward_finished(const Node& /*node*/, const Slot& /*output*/) noexcept {}
  // A stage that is not an operation is done, for example the optimizer's update.
  virtual void stage_finished(const char* /*stage*/) noexcept {}
  // Matrix products with this many multiplications (and as many additions), inside an operation or
  // a backward closure. Attention counts all pairs of a query and a key, masked or not.
  virtual void multiplied(double /*multiplications*/) noexcept {}
  // The operation saves this many elements for its backward.
  virtual void saved(int64_t /*elements*/) noexcept {}
  // The operation, closure or stage reads and writes this many elements. Reported where that is not
  // what the sizes of inputs, result and gradients suggest.
  virtual void moved(int64_t /*elements*/) noexcept {}
  // The pool allocated, or took back, a block of this size: that of its size class. A block that
  // another thread freed is taken back with the next request.
  virtual void allocated(const void* /*block*/, int64_t /*bytes*/) noexcept {}
  virtual void freed(const void* /*block*/, int64_t /*bytes*/) noexcept {}
};

// Counts the FLOPs of matrix products: 2 m n k for (m, k) · (k, n).
class FlopCounter final : public Observer {
 public:
  void multiplied(double multiplications) noexcept override { flops_ += 2 * multiplications; }
  double flops() const { return flops_; }

 private:
  double flops_ = 0;
};

// Returns the observer of this thread, or null.
inline Observer* observer() { return Observer::current; }

// Reports the matrix products (m, k) · (k, n), `count` of them, to the observer, if there is one.
inline void report_products(int64_t m, int64_t n, int64_t k, int64_t count = 1) {
  if (Observer* const current = observer()) [[unlikely]]
    current->multiplied(static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
                        static_cast<double>(count));
}

// Reports what the operation saves for its backward: see Observer::saved().
inline void report_saved(int64_t elements) {
  if (Observer* const current = observer()) [[unlikely]]
    current->saved(elements);
}

// Reports what the operation, closure or stage reads and writes: see Observer::moved().
inline void report_moved(int64_t elements) {
  if (Observer* const current = observer()) [[unlikely]]
    current->moved(elements);
}

// Notifies the observer, if there is one, that a stage has finished.
inline void stage_finished(const char* name) {
  if (Observer* const current = observer()) current->stage_finished(name);
}

// Makes `current` observe the calling thread until the end of the block. Only the innermost
// observer is notified.
class ObserverScope {
 public:
  explicit ObserverScope(Observer& current) : guard_(Observer::current, &current) {}

 private:
  ValueGuard<Observer*> guard_;
};

}  // namespace heed::inline HEED_REAL
