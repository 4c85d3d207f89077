// Observes a computation: which operations run, in which order, and what they cost. Training needs
// no observer: without one, an operation costs one more branch.
#pragma once

#include <span>

#include "core/scope.h"

namespace heed::inline HEED_REAL {

class Tensor;
struct Node;
struct Slot;

// What an operation, or the backward closure of one, reports as a number.
enum class Work {
  multiplications,  // of matrix products, which add as often; attention counts the pairs of its
                    // blocks, which skip what a window or a causal mask hides from all their
                    // queries
  saved,            // elements that are kept for backward
  moved,            // elements read and written, where shapes suggest more
};

// Is told what the operations of a thread do while an ObserverScope names it. Derive from it.
class Observer {
 public:
  virtual ~Observer() = default;
  // The operation `name` computed y; `node` is its node in the graph, or null if nothing was
  // recorded. All that the thread did since the last call belongs to the operation. May throw.
  virtual void op_finished(const char* /*name*/, const Tensor& /*y*/,
                           std::span<const Tensor> /*inputs*/, const Node* /*node*/) {}
  // The backward closure of a node begins and ends. At its end `output` still holds the gradient
  // that the closure read.
  virtual void backward_started(const Node& /*node*/) noexcept {}
  virtual void backward_finished(const Node& /*node*/, const Slot& /*output*/) {}  // may throw
  // An amount of work, in the unit of Work.
  virtual void reported(Work /*work*/, double /*amount*/) noexcept {}
};

// Makes `observer` observe the calling thread until the end of the block, besides those that
// observe it already. Scopes must nest.
class ObserverScope {
 public:
  explicit ObserverScope(Observer& observer) : observer_(observer) {}
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
  ObserverScope* const outer_ = innermost_;
  const ValueGuard<ObserverScope*> guard_{innermost_, this};
};

// Reports the product of the factors: report(Work::multiplications, m, n, k).
template <class... Factors>
void report(Work work, Factors... factors) {
  ObserverScope::notify(
      [&](Observer& o) { o.reported(work, (static_cast<double>(factors) * ...)); });
}

}  // namespace heed::inline HEED_REAL
