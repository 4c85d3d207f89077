#include "apps/measure/step_watch.h"

#include <algorithm>
#include <chrono>

#include "core/autograd.h"
#include "nn/module_scope.h"

namespace heed {

OperationCost Event::cost() const {
  if (pass == Pass::other) return {};
  return pass == Pass::forward ? forward_cost(name, call) : backward_cost(name, call);
}

StepWatch::StepWatch(const StepWatch* like) {
  if (!like) return;
  events_.reserve(like->events_.size());
  recorded_.reserve(like->recorded_.size());
  memory_.reserve(like->memory_.size());
}

namespace {

int64_t nanoseconds_now() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

int64_t StepWatch::time() const { return nanoseconds_now() - start_; }

void StepWatch::begin() { start_ = nanoseconds_now(); }

void StepWatch::end() { nanoseconds_ = time(); }

void StepWatch::op_finished(const char* name, const Tensor& y, std::span<const Tensor> inputs,
                            const Node* node) noexcept {
  if (node) recorded_.push_back({node->order, events_.size()});
  Event& event = events_.emplace_back(Event{name, Pass::forward, ModuleScope::current(), last_, 0});
  event.call.result = y.shape();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    if (i < OperationCall::most_inputs) event.call.inputs[i] = inputs[i].shape();
    event.call.input_numbers += inputs[i].size();
  }
  last_ = event.end = time();
}

void StepWatch::backward_started(const Node& node) noexcept {
  // A node that was made before the step was watched has no operation here.
  const auto made =
      std::lower_bound(recorded_.begin(), recorded_.end(), node.order,
                       [](const Recorded& r, uint64_t order) { return r.order < order; });
  Event event{node.name, Pass::backward, nullptr, 0, 0};
  if (made != recorded_.end() && made->order == node.order) event = events_[made->event];
  event.pass = Pass::backward;
  events_.push_back(event);
  inside_ = true;
  events_.back().begin = time();
}

void StepWatch::backward_finished(const Node& node, const Slot& output) noexcept {
  last_ = time();
  inside_ = false;
  Event& event = events_.back();
  event.end = last_;
  for (int i = 0; i < node.input_count; ++i) {
    const Slot* const input = node.inputs[i];
    if (!input) continue;
    event.call.wanted |= 1u << std::min(i, 31);
    const bool handed_on = input->gradient.get() == output.gradient.get();
    if (input->written && !handed_on) event.call.gradient_numbers += input->size;
  }
}

void StepWatch::stage_finished(const char* what) noexcept {
  const int64_t here = time();
  events_.push_back({what, Pass::other, ModuleScope::current(), last_, here});
  last_ = here;
}

void StepWatch::allocated(const void* block, int64_t bytes) noexcept {
  memory_.push_back({block, bytes, during()});
}

void StepWatch::freed(const void* block, int64_t bytes) noexcept {
  memory_.push_back({block, -bytes, during()});
}

}  // namespace heed
