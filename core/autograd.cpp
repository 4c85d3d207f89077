// Defines autograd.h: the backward pass, then what closures call, recording, and destruction.
#include "core/autograd.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/kernels/kernels.h"
#include "core/memory.h"

namespace heed::inline HEED_REAL {
namespace {

Destination open(Slot& slot);  // of the next gradient of a slot
void release(Node* node);

// ---- the backward pass

// The vector of the last queue of this thread, empty. Its capacity is used again, so that backward
// stops allocating after a few steps.
thread_local std::vector<Slot*> spare;

// The nodes that have received a gradient, by the slots of their results: a heap with the newest on
// top. It has a reference to each slot.
class Queue {
 public:
  ~Queue() {
    while (!empty()) pop()->released = true;  // after an exception the rest is unusable
    std::swap(heap_, spare);
  }
  bool empty() const { return heap_.empty(); }
  // Takes over a reference to a slot, unless nothing made the slot or it is here already.
  void push(Slot*& reference) {
    if (!reference->producer || reference->producer->queued) return;
    reference->producer->queued = true;
    heap_.push_back(std::exchange(reference, nullptr));
    std::push_heap(heap_.begin(), heap_.end(), older);
  }
  Handle<Slot> pop() {
    std::pop_heap(heap_.begin(), heap_.end(), older);
    Handle<Slot> newest(heap_.back());
    heap_.pop_back();
    return newest;
  }

 private:
  static bool older(const Slot* a, const Slot* b) {
    return a->producer->order < b->producer->order;
  }
  std::vector<Slot*> heap_ = std::exchange(spare, {});
};

void run(Node& node, Slot& output) {
  const ValueGuard here(scope().precision, node.precision);
  Backward g(node, output);
  try {
    ObserverScope::notify([&](Observer& o) { o.backward_started(node); });
    node.run(node.closure, g);
    ObserverScope::notify([&](Observer& o) { o.backward_finished(node, output); });
  } catch (const Error& error) {
    throw Error(fmt::format("backward of {}: {}", node.name, error.what()));
  }
}

}  // namespace

void backward(const Tensor& y, const Tensor& cotangent) {
  check(y.requires_grad(),
        "backward: this tensor of shape {} depends on none that requires a gradient", y.shape());
  check(cotangent.shape() == y.shape(), "backward: the cotangent has shape {}, the tensor {}",
        cotangent.shape(), y.shape());
  kernels::copy(y.size(), cotangent.data(), open(*y.slot()));
  Queue queue;
  Slot* reference = Handle<Slot>(y.slot()).release();
  queue.push(reference);
  const Handle<Slot> left(reference);  // drops what push() did not take: y may be a leaf
  while (!queue.empty()) {
    const Handle<Slot> output = queue.pop();
    Node* const node = output->producer;
    output->released = true;
    run(*node, *output);
    for (int i = 0; i < node->input_count; ++i)
      if (Slot*& input = node->inputs[i]; input && input->written) queue.push(input);
    output->producer = nullptr;
    output->written = false;
    output->gradient = {};
    release(node);
  }
}

void backward(const Tensor& loss) {
  check(loss.size() == 1,
        "backward: needs a loss of one element, this tensor has shape {}; give a cotangent",
        loss.shape());
  backward(loss, Tensor::full(loss.shape(), 1));
}

// ---- what closures call

namespace {

void check_open(const Slot& slot) {
  check(!slot.released,
        "backward: this part of the graph has been run and released; compute the loss again");
}

Destination open(Slot& slot) {
  check_open(slot);
  const bool accumulate = std::exchange(slot.written, true);
  if (!slot.gradient) slot.gradient = Storage::allocate(slot.size);
  const bool shared = !slot.bound && slot.gradient->references() > 1;  // by pass()
  if (accumulate && shared) {
    Handle<Storage> own = Storage::allocate(slot.size);
    kernels::copy(slot.size, slot.gradient->data, {own->data, false});
    slot.gradient = std::move(own);
  }
  return {slot.gradient->data, accumulate};
}

}  // namespace

const Shape& Backward::shape() const { return node_.shape; }

bool Backward::wants(int i) const { return i < node_.input_count && node_.inputs[i] != nullptr; }

Destination Backward::into(int i) { return open(*node_.inputs[i]); }

void Backward::pass(int i) {
  Slot& slot = *node_.inputs[i];
  check_open(slot);
  check(slot.size == output_.size,
        "backward of {}: a gradient of {} elements does not fit an input of {}", node_.name,
        output_.size, slot.size);
  if (slot.written || !slot.producer) {  // a leaf owns its gradient, which may be modified in place
    kernels::copy(size(), dy(), into(i));
  } else {
    slot.written = true;
    slot.gradient = output_.gradient;
  }
}

void Backward::pass_broadcast(int i, const Shape& own) {
  if (own == shape()) return pass(i);
  sum_to(dy(), shape(), own, into(i));
}

void Backward::sum_to(const real* from, const Shape& shape, const Shape& own, Destination to) {
  kernels::sum_to(from, shape, own, to);
}

const real* Saved::data() const {
  if (!storage_) return nullptr;
  check(storage_->version == version_,
        "a tensor of shape {} that backward needs has been changed since it was used", shape_);
  return storage_->data;
}

// ---- recording

namespace detail {
namespace {

constinit thread_local uint64_t newest_order = 0;  // of the nodes that this thread has recorded

constexpr size_t aligned(size_t bytes) {
  constexpr size_t unit = alignof(std::max_align_t);
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

// An operation needs one block of memory:  Node | Slot* of each input | closure
Node* allocate_node(const char* name, const Shape& shape, size_t inputs, size_t closure_bytes) {
  constexpr size_t slots_at = aligned(sizeof(Node));
  const size_t closure_at = slots_at + aligned(inputs * sizeof(Slot*));
  char* const block = static_cast<char*>(pool_allocate(closure_at + closure_bytes));
  Node* const node = new (block) Node{};
  node->name = name;
  node->order = newest_order + 1;
  node->shape = shape;
  node->precision = scope().precision;
  node->input_count = static_cast<int>(inputs);
  node->inputs = reinterpret_cast<Slot**>(block + slots_at);
  node->closure = block + closure_at;
  return node;
}

void set_input(Node& node, size_t i, const Tensor& x) {
  Handle<Slot> slot = x ? x.slot() : Handle<Slot>();
  // The input may be from another thread, with a larger number than any of this one.
  if (slot && slot->producer) node.order = std::max(node.order, slot->producer->order + 1);
  node.inputs[i] = slot.release();
}

void attach(const Tensor& y, Node* node) {
  newest_order = node->order;
  const bool has_history = static_cast<bool>(y.slot());
  if (has_history || y.body().references() != 1) {
    const char* name = node->name;
    release(node);
    check(!has_history, "record: {} returned a tensor that has a history already", name);
    check(false, "record: the closure of {} captured its own result; save it", name);
  }
  y.body().slot = Slot::create(y.size());
  y.body().slot->producer = node;
}

}  // namespace detail

// ---- destruction

namespace {

// Destroys a slot that nothing refers to. Returns the node that it owned, or null.
Node* destroy_alone(Slot* slot) {
  Node* const producer = slot->producer;
  slot->~Slot();
  pool_free(slot);
  return producer;
}

// Destroys a node, and all nodes that only it refers to. A graph may be a million nodes deep: they
// wait in a list, without recursion.
void release(Node* node) {
  for (Node* unused = node; unused;) {
    node = std::exchange(unused, unused->next);
    node->end(node->closure);
    for (Slot* slot : std::span(node->inputs, static_cast<size_t>(node->input_count))) {
      if (!slot || !slot->drop_reference()) continue;
      if (Node* const producer = destroy_alone(slot)) {
        producer->next = unused;
        unused = producer;
      }
    }
    pool_free(node);
  }
}

}  // namespace

void Slot::destroy(Slot* slot) {
  if (Node* const producer = destroy_alone(slot)) release(producer);
}

}  // namespace heed::inline HEED_REAL
