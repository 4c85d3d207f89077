// Reverse-mode differentiation: backward(loss) finds ∂loss/∂w for every parameter w.
//
// While a model runs, its operations grow a graph. After y = mul(a, b):
//
//   slot of a ◄──┐
//                ├── Node "mul", and its closure ◄── slot of y
//   slot of b ◄──┘
//
// The slot of a tensor x is where ∂loss/∂x, called dx, adds up. A closure is the chain rule of one
// operation: it reads dy, and adds dy ∂y/∂x to the slot of each input x.
//
//   return record("mul", y, {a, b}, [as = saved(a, b), bs = saved(b, a)](Backward& g) {
//     if (g.wants(0)) multiply(g.dy(), bs.data(), g.into(0));  // da += dy · b
//     if (g.wants(1)) multiply(g.dy(), as.data(), g.into(1));  // db += dy · a
//   });
//
// saved(b, a) keeps the elements of b, because da needs them, but only if a requires a gradient.
// (core/ops/arithmetic.cpp has the whole of mul(), with broadcasting.)
//
// Order: nodes are numbered as they are made. An operation that used y is newer than the one that
// made y, so backward always runs the newest node that has received a gradient: its dy is complete.
// Memory: a node refers to slots, not to elements, so a result that no closure saved is freed
// during the forward pass. A node is freed as soon as it has run. There is no list of all
// operations, and what the loss does not depend on costs nothing.
//
// report() and ObserverScope tell observers what happens (core/observer.h). Without one, which is
// the usual case, they do nothing.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "core/observer.h"
#include "core/real.h"
#include "core/scope.h"
#include "core/tensor.h"

namespace heed::inline HEED_REAL {

// Adds ∂loss/∂leaf to the gradient of every leaf that requires one, and releases the graph. `loss`
// has one element. Throws Error if the graph has been released, or if a tensor or ids that it saved
// have been modified.
void backward(const Tensor& loss);
// The same from any tensor y, with the cotangent ∂loss/∂y in the shape of y.
void backward(const Tensor& y, const Tensor& cotangent);

// ---- what a closure reads and writes

// The argument of a closure while its node runs.
class Backward {
 public:
  Backward(Node& node, Slot& output) : node_(node), output_(output) {}
  // ∂loss/∂y, in the shape of y.
  const real* dy() const { return output_.gradient->data; }
  const Shape& shape() const;                    // of y
  int64_t size() const { return output_.size; }  // number of elements of y
  // Returns whether input i requires a gradient.
  bool wants(int i) const;
  // The destination of ∂loss/∂input i. Call it once, and write every element.
  Destination into(int i);
  // into(i), or a destination without data if input i wants no gradient.
  Destination into_or_null(int i) { return wants(i) ? into(i) : Destination{nullptr, false}; }
  // ∂loss/∂input i is dy itself (of equal size). Shares the storage where possible.
  void pass(int i);
  // The same for an input of shape `own` that was broadcast to the shape of y. Sums over the axes
  // along which it was repeated.
  void pass_broadcast(int i, const Shape& own);
  // ∂loss/∂input i for an input of shape `own` that was broadcast to `whole_shape`.
  // `write(Destination)` writes the gradient in `whole_shape`; this function then sums over the
  // axes along which the input was repeated.
  template <class Write>
  void into_broadcast(int i, const Shape& whole_shape, const Shape& own, Write write) {
    if (own == whole_shape) return write(into(i));
    Tensor whole = Tensor::empty(whole_shape);
    write(Destination{whole.mutable_data(), false});
    sum_to(whole.data(), whole_shape, own, into(i));
  }
  // The same for an input that was broadcast to the shape of y.
  template <class Write>
  void into_broadcast(int i, const Shape& own, Write write) {
    into_broadcast(i, shape(), own, write);
  }

 private:
  static void sum_to(const real* from, const Shape& shape, const Shape& own, Destination to);
  Node& node_;
  Slot& output_;
};

// Elements that backward will read. Refers to no slot, so a closure may save the result of its own
// operation, and the graph has no cycle.
class Saved {
 public:
  Saved() = default;
  explicit Saved(const Tensor& x)
      : storage_(x.storage()), shape_(x.shape()), version_(x.storage()->version) {
    report(Work::saved, x.size());
  }
  explicit operator bool() const { return static_cast<bool>(storage_); }
  // Null if nothing was saved. Throws Error if the elements have been modified since.
  const real* data() const;
  // The same, for a closure that saved a tensor of its own and may overwrite it.
  real* own_data() const { return data() ? storage_->data : nullptr; }
  const Shape& shape() const { return shape_; }  // of x

 private:
  Handle<Storage> storage_;
  Shape shape_;
  uint32_t version_ = 0;
};

// Ids that backward will read, or a mask of them.
template <class T>
class Unchanged {
 public:
  explicit Unchanged(const T& value) : value_(value), version_(value.version()) {}
  // Throws Error if the ids have been modified since.
  const T& operator*() const {
    check(value_.version() == version_,
          "ids, lengths or a mask that backward needs have been changed since they were used");
    return value_;
  }
  const T* operator->() const { return &**this; }

 private:
  T value_;
  uint32_t version_;
};

// Returns whether operations on x record how to differentiate them.
inline bool wants_gradient(const Tensor& x) { return x && x.requires_grad() && scope().gradients; }

// Saves x for backward if it is needed for the gradient of any of `inputs`; else saves nothing.
template <class... Tensors>
Saved saved(const Tensor& x, const Tensors&... inputs) {
  return (wants_gradient(inputs) || ...) ? Saved(x) : Saved();
}

// ---- recording

// How one tensor was computed.
struct Node {
  const char* name;     // of the operation
  uint64_t order;       // of creation: larger than those of the nodes that it reads
  Shape shape;          // of the result
  Precision precision;  // of the forward pass, which backward uses again
  bool queued = false;  // has received a gradient, and waits to run
  int input_count;      // length of `inputs`
  Slot** inputs;        // null where no gradient is required
  void* closure;        // the object that `run` and `end` are given
  void (*run)(void* closure, Backward& g);  // adds to the gradients of the inputs
  void (*end)(void* closure);               // destroys the closure
  Node* next = nullptr;                     // in the list of nodes to destroy
};

// An input of an operation, in a list that copies no handle.
struct Input {
  Input(const Tensor& x) : tensor(x) {}
  operator const Tensor&() const { return tensor; }
  const Tensor& tensor;  // outlives the call of record()
};

namespace detail {
Node* allocate_node(const char* name, const Shape& shape, size_t inputs, size_t closure_bytes);
void set_input(Node& node, size_t i, const Tensor& x);
void attach(const Tensor& y, Node* node);
template <class Closure>
void run_closure(void* closure, Backward& g) {
  (*static_cast<Closure*>(closure))(g);
}

// Inputs: a range of Tensor or Input.
template <class Inputs, class Closure>
Tensor record(const char* name, const Tensor& y, const Inputs& inputs, Closure closure) {
  Node* node = nullptr;
  if (scope().gradients && std::any_of(inputs.begin(), inputs.end(),
                                       [](const Tensor& x) { return x && x.requires_grad(); })) {
    node = allocate_node(name, y.shape(), inputs.size(), sizeof(Closure));
    size_t i = 0;
    for (const Tensor& x : inputs) set_input(*node, i++, x);
    static_assert(alignof(Closure) <= alignof(std::max_align_t));
    new (node->closure) Closure(std::move(closure));
    node->run = run_closure<Closure>;
    node->end = [](void* c) { static_cast<Closure*>(c)->~Closure(); };
    attach(y, node);
  }
  if (ObserverScope::exists()) [[unlikely]] {
    const std::vector<Tensor> all(inputs.begin(), inputs.end());
    ObserverScope::notify([&](Observer& o) { o.op_finished(name, y, all, node); });
  }
  return y;
}
}  // namespace detail

// Records how y was computed, and returns y. Inputs may be empty handles. Records nothing if no
// input requires a gradient.
template <class Closure>
Tensor record(const char* name, const Tensor& y, std::initializer_list<Input> inputs,
              Closure closure) {
  return detail::record(name, y, inputs, std::move(closure));
}
template <class Closure>
Tensor record(const char* name, const Tensor& y, std::span<const Tensor> inputs, Closure closure) {
  return detail::record(name, y, inputs, std::move(closure));
}

}  // namespace heed::inline HEED_REAL
