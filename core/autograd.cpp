#include "core/autograd.h"

#include <algorithm>
#include <vector>

#include "core/kernels/kernels.h"
#include "core/per_thread.h"

namespace heed::inline HEED_REAL {
namespace {

// Drops a reference. A slot without references is pushed on the stack instead of destroyed here.
void drop(Slot* slot, std::vector<Slot*>& pile) {
  if (slot && slot->drop_reference()) pile.push_back(slot);
}

void destroy_node(Node* node, std::vector<Slot*>& pile) {
  node->end(node->closure);
  for (int i = 0; i < node->input_count; ++i) drop(node->inputs[i], pile);
  pool_free(node);
}

// The state of the graphs of one thread. The vectors keep their capacity from one backward to the
// next, so that they stop allocating after a few steps.
struct GraphState {
  uint64_t newest = 0;        // the largest order of a node so far
  std::vector<Slot*> doomed;  // waiting to be destroyed
  std::vector<Slot*> agenda;  // waiting to run
};

std::vector<Slot*>& doomed() { return per_thread<GraphState>().doomed; }

void destroy_pile(std::vector<Slot*>& pile, size_t down_to) {
  while (pile.size() > down_to) {
    Slot* slot = pile.back();
    pile.pop_back();
    if (slot->producer) destroy_node(std::exchange(slot->producer, nullptr), pile);
    slot->~Slot();
    pool_free(slot);
  }
}

// Destroys a node that has run, or cannot be attached, and all that only it refers to.
void release(Node* node) {
  std::vector<Slot*>& pile = doomed();
  const size_t before = pile.size();
  destroy_node(node, pile);
  destroy_pile(pile, before);
}

}  // namespace

void Slot::destroy(Slot* slot) {
  std::vector<Slot*>& pile = doomed();
  const size_t before = pile.size();
  pile.push_back(slot);
  destroy_pile(pile, before);
}

const Shape& Backward::shape() const { return node_.shape; }

bool Backward::wants(int i) const { return i < node_.input_count && node_.inputs[i] != nullptr; }

namespace {

// The nodes that have received a gradient, the newest first: a binary heap of their slots, with a
// reference to each.
class Agenda {
 public:
  explicit Agenda(std::vector<Slot*>& heap) : heap_(heap), before_(heap.size()) {}
  ~Agenda() {
    while (!empty()) pop()->released = true;  // after an exception the rest is unusable
  }
  bool empty() const { return heap_.size() == before_; }
  // Takes over a reference to the slot, unless the slot is on the heap or has nothing to run.
  void push(Slot*& reference) {
    if (!reference->producer || reference->producer->queued) return;
    reference->producer->queued = true;
    heap_.push_back(std::exchange(reference, nullptr));
    std::push_heap(first(), heap_.end(), older);
  }
  Handle<Slot> pop() {
    std::pop_heap(first(), heap_.end(), older);
    Handle<Slot> slot(heap_.back());
    heap_.pop_back();
    return slot;
  }

 private:
  static bool older(const Slot* a, const Slot* b) {
    return a->producer->order < b->producer->order;
  }
  std::vector<Slot*>::iterator first() { return heap_.begin() + static_cast<ptrdiff_t>(before_); }
  std::vector<Slot*>& heap_;
  size_t before_;
};

// Checks that a slot can receive a gradient.
void check_open(const Slot& slot) {
  check(!slot.released,
        "backward: this part of the graph has been run and released; compute the loss again");
}

// The destination of the next gradient of a slot.
Destination open(Slot& slot) {
  check_open(slot);
  const bool accumulate = std::exchange(slot.written, true);
  if (!slot.gradient) slot.gradient = Storage::allocate(slot.size);
  if (accumulate && !slot.bound &&
      slot.gradient->references() > 1) {  // shared by pass(): take a copy
    Handle<Storage> own = Storage::allocate(slot.size);
    kernels::copy(slot.size, slot.gradient->data, {own->data, false});
    slot.gradient = std::move(own);
  }
  return {slot.gradient->data, accumulate};
}

}  // namespace

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

namespace detail {

Node* allocate_node(const char* name, const Shape& shape, size_t inputs, size_t closure_bytes) {
  constexpr size_t align = alignof(std::max_align_t);
  const size_t slots_at = (sizeof(Node) + align - 1) / align * align;
  const size_t closure_at = (slots_at + inputs * sizeof(Slot*) + align - 1) / align * align;
  char* block = static_cast<char*>(pool_allocate(closure_at + closure_bytes));
  Node* node = new (block) Node{};
  node->name = name;
  node->order = per_thread<GraphState>().newest + 1;
  node->shape = shape;
  node->precision = scope().precision;
  node->input_count = static_cast<int>(inputs);
  node->inputs = reinterpret_cast<Slot**>(block + slots_at);
  node->closure = block + closure_at;
  return node;
}

void set_input(Node& node, size_t i, const Tensor& x) {
  Handle<Slot> slot = x ? x.slot() : Handle<Slot>();
  // Another thread may have recorded the input.
  if (slot && slot->producer) node.order = std::max(node.order, slot->producer->order + 1);
  node.inputs[i] = slot.release();
}

void attach(const Tensor& y, Node* node) {
  per_thread<GraphState>().newest = node->order;
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

namespace {

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
  Agenda agenda(per_thread<GraphState>().agenda);
  kernels::copy(y.size(), cotangent.data(), open(*y.slot()));
  Slot* reference = Handle<Slot>(y.slot()).release();
  agenda.push(reference);
  const Handle<Slot> left(reference);  // if y is a leaf
  while (!agenda.empty()) {
    const Handle<Slot> slot = agenda.pop();
    Node* node = slot->producer;
    slot->released = true;
    run(*node, *slot);
    for (int i = 0; i < node->input_count; ++i)
      if (Slot*& input = node->inputs[i]; input && input->written) agenda.push(input);
    slot->producer = nullptr;
    slot->written = false;
    slot->gradient = {};
    release(node);
  }
}

void backward(const Tensor& loss) {
  check(loss.size() == 1,
        "backward: needs a loss of one element, this tensor has shape {}; give a cotangent",
        loss.shape());
  backward(loss, Tensor::full(loss.shape(), 1));
}

}  // namespace heed::inline HEED_REAL
