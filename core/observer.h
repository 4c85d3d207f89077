// Watching a computation from outside: what is computed, in which order, and the memory it takes.
// For profiles: see apps/measure/step_watch.h. While nobody watches it costs a branch an operation.
//
// An operation is told of when it is done, for only then does record() know of it: what the thread
// did since the last call belongs to it, the checks and the memory of its result among them.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "core/real.h"

namespace heed::inline HEED_REAL {

class Tensor;
struct Node;
struct Slot;

// What is called must not use the pool or throw.
class Observer {
 public:
  virtual ~Observer() = default;
  // The operation `name` gave y. `node`: how to go back through it, or null if nothing was
  // recorded.
  virtual void computed(const char* name, const Tensor& y, std::span<const Tensor> inputs,
                        const Node* node) noexcept = 0;
  // The closure of a node runs. At its end `output` still holds the gradient that it read.
  virtual void backward_begins(const Node& node) noexcept = 0;
  virtual void backward_ends(const Node& node, const Slot& output) noexcept = 0;
  // Something that is no operation is done, such as the optimizer's step.
  virtual void passed(const char* what) noexcept = 0;
  // The pool handed out a block of so many bytes, its class's; and took one back.
  virtual void allocated(const void* block, int64_t bytes) noexcept = 0;
  virtual void freed(const void* block, int64_t bytes) noexcept = 0;
};

namespace detail {
// Constant initialisation, so that reading it is a load and no call.
inline constinit thread_local Observer* watching = nullptr;
}  // namespace detail

// Who watches this thread, or null.
inline Observer* observer() { return detail::watching; }

// Tells who watches, if anyone, that `what` is done.
inline void passed(const char* what) {
  if (Observer* const watching = observer()) watching->passed(what);
}

// Lets an observer watch the calling thread for as long as it lives; of two, the inner one alone.
class Observation {
 public:
  explicit Observation(Observer& by) : outer_(std::exchange(detail::watching, &by)) {}
  ~Observation() { detail::watching = outer_; }
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

 private:
  Observer* outer_;
};

}  // namespace heed::inline HEED_REAL
