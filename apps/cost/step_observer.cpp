#include "apps/cost/step_observer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "apps/support/names.h"
#include "core/autograd.h"
#include "nn/module.h"

namespace heed {

Cost& Cost::operator+=(const Cost& other) {
  flops += other.flops;
  bytes += other.bytes;
  return *this;
}

StepObserver::StepObserver(const StepObserver* like) {
  if (!like) return;
  events_.reserve(like->events_.size());
  recorded_.reserve(like->recorded_.size());
  memory_.reserve(like->memory_.size());
}

static int64_t nanoseconds_now() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

int64_t StepObserver::time() const { return nanoseconds_now() - start_; }

void StepObserver::begin() { start_ = nanoseconds_now(); }

void StepObserver::end() { nanoseconds_ = time(); }

void StepObserver::finish(Event& event, int64_t elements) {
  const int64_t moved = std::exchange(moved_, 0);
  event.cost = {std::exchange(flops_, 0),
                sizeof(real) * static_cast<double>(moved ? moved : elements)};
  event.loops = std::exchange(loops_, 0);
  event.waited = std::exchange(waited_, 0);
}

void StepObserver::op_finished(const char* name, const Tensor& y, std::span<const Tensor> inputs,
                               const Node* node) noexcept {
  if (node) recorded_.push_back({node->order, events_.size()});
  Event& event = events_.emplace_back(Event{name, Pass::forward, ModuleScope::current(), last_, 0});
  event.result = y.shape();
  int64_t elements = y.size();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    if (i < Event::max_inputs) event.inputs[i] = inputs[i].shape();
    elements += inputs[i].size();
  }
  event.saved = std::exchange(saved_, 0);
  finish(event, elements);
  last_ = event.end = time();
}

void StepObserver::backward_started(const Node& node) noexcept {
  // A node that was made before the step began has no event.
  const auto made =
      std::lower_bound(recorded_.begin(), recorded_.end(), node.order,
                       [](const Recorded& r, uint64_t order) { return r.order < order; });
  Event event{node.name};
  if (made != recorded_.end() && made->order == node.order) event = events_[made->event];
  event.pass = Pass::backward;
  events_.push_back(event);
  in_backward_ = true;
  events_.back().begin = time();
}

void StepObserver::backward_finished(const Node& node, const Slot& output) noexcept {
  last_ = time();
  in_backward_ = false;
  Event& event = events_.back();
  event.end = last_;
  int64_t written = 0;  // a gradient that is passed on as it is costs nothing
  for (int i = 0; i < node.input_count; ++i) {
    const Slot* const input = node.inputs[i];
    if (input && input->written && input->gradient.get() != output.gradient.get())
      written += input->size;
  }
  finish(event, written ? output.size + event.saved + written : 0);
}

void StepObserver::stage_finished(const char* stage) noexcept {
  const int64_t here = time();
  events_.push_back({stage, Pass::other, ModuleScope::current(), last_, here});
  finish(events_.back(), 0);
  last_ = here;
}

void StepObserver::reported(Work work, double amount) noexcept {
  switch (work) {
    case Work::multiplications:
      flops_ += 2 * amount;
      break;
    case Work::saved:
      saved_ += static_cast<int64_t>(amount);
      break;
    case Work::moved:
      moved_ += static_cast<int64_t>(amount);
      break;
  }
}

void StepObserver::loop_finished(int64_t waited_nanoseconds) noexcept {
  ++loops_;
  waited_ += waited_nanoseconds;
}

void StepObserver::allocated(const void* block, int64_t bytes) noexcept {
  memory_.push_back({block, bytes, events_.size() - in_backward_});
}

void StepObserver::freed(const void* block, int64_t bytes) noexcept {
  memory_.push_back({block, -bytes, events_.size() - in_backward_});
}

std::string PartNames::part(const Event& event) const {
  const auto found = names_.find(event.part);
  return found == names_.end() ? "" : found->second;
}

std::string PartNames::layer(const Event& event) const {
  const std::string name = layer_of(part(event));
  return name.empty() ? outside_model : name;
}

}  // namespace heed
