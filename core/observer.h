// Observers: notified of every operation, in order, and of every block of memory it takes.
// Profilers implement them (apps/measure/step_watch.h). Without an observer the cost is a branch
// per operation.
//
// An operation is reported when it has finished, because only then does it call record(). What the
// thread did since the previous notification, such as checks and the allocation of the result,
// belongs to it.
#pragma once

#include <cstdint>
#include <span>

#include "core/scope.h"

namespace heed::inline HEED_REAL {

class Tensor;
struct Node;
struct Slot;

// The functions must not use the pool or throw.
class Observer {
 public:
  virtual ~Observer() = default;
  // The operation `name` has computed y. `node` differentiates it; null if nothing was recorded.
  virtual void op_finished(const char* name, const Tensor& y, std::span<const Tensor> inputs,
                           const Node* node) noexcept = 0;
  // The backward of a node runs. When it has finished, `output` still holds the gradient it read.
  virtual void backward_started(const Node& node) noexcept = 0;
  virtual void backward_finished(const Node& node, const Slot& output) noexcept = 0;
  // A stage that is not an operation has finished, such as the optimizer's step.
  virtual void stage_finished(const char* name) noexcept = 0;
  // The pool allocated or freed a block. `bytes` is the size of the block's class.
  virtual void allocated(const void* block, int64_t bytes) noexcept = 0;
  virtual void freed(const void* block, int64_t bytes) noexcept = 0;
};

// Returns the observer of this thread, or null.
inline Observer* observer() { return scope().observer; }

// Notifies the observer, if there is one, that a stage has finished.
inline void stage_finished(const char* name) {
  if (Observer* const current = observer()) current->stage_finished(name);
}

// Makes `current` observe the calling thread until the end of the block. Only the innermost
// observer is notified.
class ObserverScope {
 public:
  explicit ObserverScope(Observer& current) : guard_(scope().observer, &current) {}

 private:
  ValueGuard<Observer*> guard_;
};

}  // namespace heed::inline HEED_REAL
