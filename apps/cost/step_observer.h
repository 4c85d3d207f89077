// Records one training step: every operation with its time and cost, and every allocation.
#pragma once

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/fields.h"
#include "core/shape.h"
#include "core/stage_observer.h"
#include "nn/module.h"

namespace heed {

enum class Pass { forward, backward, other };
inline constexpr Named<Pass> passes[] = {
    {"forward", Pass::forward}, {"backward", Pass::backward}, {"other", Pass::other}};

inline constexpr const char* outside_operations = "outside operations";
inline constexpr const char* outside_model = "outside the model";

// FLOPs: those of matrix products, a multiplication and an addition counted as two. Bytes: forward,
// the inputs and the result; backward, the gradient of the result, the saved values, and the
// gradients of the inputs. Each array counts once, regardless of caches.
struct Cost {
  double flops = 0, bytes = 0;

  Cost& operator+=(const Cost& other);
};

// An operation, or another stage of a step. Forward operations follow each other without a gap:
// the time between two of them, for example to free a tensor, belongs to the second. The time
// between two closures of backward (to order and release nodes) belongs to neither.
struct Event {
  static constexpr size_t max_inputs = 3;

  const char* name;
  Pass pass = Pass::other;
  const Module* part = nullptr;  // that computes it; null outside the model
  int64_t begin = 0, end = 0;    // nanoseconds since the step began
  Cost cost = {};
  Shape result = {};
  std::array<Shape, max_inputs> inputs = {};  // the first of them; rank 0 where there is no tensor
  int64_t saved = 0;                          // elements for backward
  int64_t loops = 0, waited = 0;  // parallel loops, and nanoseconds that this thread waited in them

  int64_t nanoseconds() const { return end - begin; }
};

// An allocation or release of a block of the pool. `bytes` is negative for a release.
struct MemoryChange {
  const void* block;
  int64_t bytes;
  size_t event;  // the event during or before which it happened
};

class StepObserver final : public StageObserver {
 public:
  // `like`: an earlier step of similar length, to reserve space.
  explicit StepObserver(const StepObserver* like = nullptr);

  // The step begins and ends. An ObserverScope must be alive in between.
  void begin();
  void end();

  int64_t nanoseconds() const { return nanoseconds_; }
  const std::vector<Event>& events() const { return events_; }
  const std::vector<MemoryChange>& memory() const { return memory_; }

  void op_finished(const char* name, const Tensor& y, std::span<const Tensor> inputs,
                   const Node* node) noexcept override;
  void backward_started(const Node& node) noexcept override;
  void backward_finished(const Node& node, const Slot& output) noexcept override;
  void stage_finished(const char* stage) noexcept override;
  void reported(Work work, double amount) noexcept override;
  void loop_finished(int64_t waited_nanoseconds) noexcept override;
  void allocated(const void* block, int64_t bytes) noexcept override;
  void freed(const void* block, int64_t bytes) noexcept override;

 private:
  struct Recorded {
    uint64_t order;  // of the node
    size_t event;
  };
  int64_t time() const;
  // Gives an event what was reported since the one before. `elements` is what it moves unless it
  // reported less.
  void finish(Event& event, int64_t elements);

  int64_t start_ = 0, last_ = 0, nanoseconds_ = 0;
  bool in_backward_ = false;  // in a closure
  // Reported since the last event:
  double flops_ = 0;
  int64_t saved_ = 0, moved_ = 0, loops_ = 0, waited_ = 0;
  std::vector<Event> events_;
  std::vector<Recorded> recorded_;  // newer nodes last
  std::vector<MemoryChange> memory_;
};

// Names of the parts of a model, by event.
class PartNames {
 public:
  explicit PartNames(const Module& model) : names_(model.part_names()) {}
  // decoder.layers.0.attention.query; "" outside the model.
  std::string part(const Event& event) const;
  // decoder.layers.0.attention; "outside the model".
  std::string layer(const Event& event) const;

 private:
  std::unordered_map<const Module*, std::string> names_;
};

}  // namespace heed
