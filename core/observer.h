// Observes a computation: which operations run, in which order, what they cost and allocate.
//
//   class Calls final : public Observer {
//     void op_finished(const char* name, …) override { ++calls[name]; }
//   };
//   Calls calls;
//   const ObserverScope here(calls);  // until the block ends
//   model.loss(inputs, targets);
//
// No training step needs an observer: without one, an operation costs one more branch. Profiles,
// counts of FLOPs and the detection of NaN are observers.
#pragma once

#include <cstdint>
#include <span>

#include "core/real.h"

namespace heed::inline HEED_REAL {

class Tensor;
struct Node;
struct Slot;

// The base of all observers. The functions must not use the pool.
class Observer {
 public:
  virtual ~Observer() = default;
  // The operation `name` computed y; `node` is its node in the graph, or null if nothing was
  // recorded. All that the thread did since the last call belongs to the operation. May throw.
  virtual void op_finished(const char* /*name*/, const Tensor& /*y*/,
                           std::span<const Tensor> /*inputs*/, const Node* /*node*/) {}
  // The backward closure of a node begins and ends. At its end `output` still holds the gradient
  // that the closure read. May throw at the end.
  virtual void backward_started(const Node& /*node*/) noexcept {}
  virtual void backward_finished(const Node& /*node*/, const Slot& /*output*/) {}
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

// Makes `observer` observe the calling thread until the end of the block, besides those that
// observe it already. Scopes must nest.
class ObserverScope {
 public:
  explicit ObserverScope(Observer& observer) : observer_(observer), outer_(innermost_) {
    innermost_ = this;
  }
  ~ObserverScope() { innermost_ = outer_; }
  ObserverScope(const ObserverScope&) = delete;
  ObserverScope& operator=(const ObserverScope&) = delete;

  // Returns whether this thread is observed.
  static bool exists() { return innermost_ != nullptr; }
  // Calls f with each observer of this thread, the innermost first.
  template <class F>
  static void notify(const F& f) {
    for (const ObserverScope* s = innermost_; s; s = s->outer_) [[unlikely]] f(s->observer_);
  }

 private:
  static inline constinit thread_local ObserverScope* innermost_ = nullptr;
  Observer& observer_;
  ObserverScope* outer_;
};

// Reports `count` matrix products (m, k) · (k, n): see Observer::multiplied().
inline void report_products(int64_t m, int64_t n, int64_t k, int64_t count = 1) {
  ObserverScope::notify([&](Observer& o) {
    o.multiplied(static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
                 static_cast<double>(count));
  });
}

// Report to the function of that name.
inline void report_saved(int64_t elements) {
  ObserverScope::notify([&](Observer& o) { o.saved(elements); });
}
inline void report_moved(int64_t elements) {
  ObserverScope::notify([&](Observer& o) { o.moved(elements); });
}
inline void stage_finished(const char* name) {
  ObserverScope::notify([&](Observer& o) { o.stage_finished(name); });
}

}  // namespace heed::inline HEED_REAL
