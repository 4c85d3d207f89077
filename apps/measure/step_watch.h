// Watches one step of training: what it did, from when to when, and where its memory went.
#pragma once

#include <string>
#include <vector>

#include "apps/measure/operation_costs.h"
#include "core/observer.h"
#include "nn/module.h"

namespace heed {

enum class Pass { forward, backward, other };
inline constexpr const char* pass_names[] = {"forward", "backward", "other"};

// An operation, or something else that a step consists of. Forward operations follow one another
// without a gap: what there is between them, such as handles that are let go, belongs to the next.
// Of backward, what is between the closures (the order of the nodes, their release) is nobody's.
struct Event {
  const char* name;
  Pass pass;
  const Module* part;  // that computed it; null outside of the model
  int64_t begin, end;  // in nanoseconds since the step began
  OperationCall call = {};

  int64_t nanoseconds() const { return end - begin; }
  OperationCost cost() const;
};

// A block of the pool that was handed out, or taken back: then its bytes are negative.
struct MemoryChange {
  const void* block;
  int64_t bytes;
  size_t event;  // during which, or on the way to which
};

class StepWatch final : public Observer {
 public:
  // `like`: an earlier step, as long as which this one will be; then no list has to grow.
  explicit StepWatch(const StepWatch* like = nullptr);

  // The beginning and the end of the step. In between an ObserverScope must live.
  void begin();
  void end();

  int64_t nanoseconds() const { return nanoseconds_; }
  const std::vector<Event>& events() const { return events_; }
  const std::vector<MemoryChange>& memory() const { return memory_; }

  void op_finished(const char* name, const Tensor& y, std::span<const Tensor> inputs,
                   const Node* node) noexcept override;
  void backward_started(const Node& node) noexcept override;
  void backward_finished(const Node& node, const Slot& output) noexcept override;
  void stage_finished(const char* what) noexcept override;
  void allocated(const void* block, int64_t bytes) noexcept override;
  void freed(const void* block, int64_t bytes) noexcept override;

 private:
  struct Recorded {
    uint64_t order;  // of the node
    size_t event;
  };
  int64_t time() const;
  // The event that is under way, or else the next.
  size_t during() const { return events_.size() - (inside_ ? 1 : 0); }

  int64_t start_ = 0, last_ = 0, nanoseconds_ = 0;
  bool inside_ = false;  // a closure of backward
  std::vector<Event> events_;
  std::vector<Recorded> recorded_;  // ever newer
  std::vector<MemoryChange> memory_;
};

}  // namespace heed
