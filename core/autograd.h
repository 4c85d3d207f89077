// Reverse-mode differentiation.
//
// An operation computes its result y and calls record(name, y, inputs, closure). The closure, given
// a Backward, adds ∂loss/∂input for every input that wants one:
//
//   return record("linear", y, {x, w}, [xs = saved(x, w), ws = saved(w, x)](Backward& g) {
//     if (g.wants(0)) gemm(dy, ws, g.into(0));      // dx += dy · w
//     if (g.wants(1)) gemm(dy.t(), xs, g.into(1));  // dw += dyᵀ · x
//   });
//
// Nodes are made in topological order, so backward simply takes the newest reachable node first: by
// then its gradient is complete. A node is released as soon as it has run, so memory peaks at the
// loss and falls from there. There is no global tape: what is not reachable from the loss costs
// nothing.
#pragma once

#include <initializer_list>
#include <new>
#include <span>
#include <utility>

#include "core/destination.h"
#include "core/observer.h"
#include "core/pool.h"
#include "core/scope.h"
#include "core/tensor.h"

namespace heed::inline HEED_REAL {

// What a closure sees while its node runs.
class Backward {
 public:
  Backward(Node& node, Slot& output) : node_(node), output_(output) {}
  // ∂loss/∂y, in the shape of y.
  const real* dy() const { return output_.gradient->data; }
  const Shape& shape() const;
  int64_t size() const { return output_.size; }
  // Whether input i takes part in the differentiation.
  bool wants(int i) const;
  // Where to write ∂loss/∂input i: call once, and write every element.
  Destination into(int i);
  // into(i), or a destination without data if input i wants no gradient.
  Destination into_or_null(int i) { return wants(i) ? into(i) : Destination{nullptr, false}; }
  // ∂loss/∂input i is dy itself (same number of elements): shared where possible instead of copied.
  void pass(int i);
  // The same where the input, of shape `own`, was broadcast to y's: what it was repeated along is
  // summed away.
  void pass_broadcast(int i, const Shape& own);
  // ∂loss/∂input i where the input, of shape `own`, was broadcast to `whole_shape`:
  // `write(Destination)` puts the gradient in that shape, and the axes it was repeated along are
  // summed away here, in one place.
  template <class Write>
  void into_broadcast(int i, const Shape& whole_shape, const Shape& own, Write write) {
    if (own == whole_shape) return write(into(i));
    Tensor whole = Tensor::empty(whole_shape);
    write(Destination{whole.mutable_data(), false});
    sum_to(whole.data(), whole_shape, own, into(i));
  }
  // The same for an element-wise operation: broadcast to the shape of y.
  template <class Write>
  void into_broadcast(int i, const Shape& own, Write write) {
    into_broadcast(i, shape(), own, write);
  }

 private:
  static void sum_to(const real* from, const Shape& shape, const Shape& own, Destination to);
  Node& node_;
  Slot& output_;
};

// Numbers that backward will read. Holds no slot, so a closure may save even its own result.
class Saved {
 public:
  Saved() = default;
  explicit Saved(const Tensor& x)
      : storage_(x.storage()), shape_(x.shape()), version_(x.storage()->version) {}
  explicit operator bool() const { return static_cast<bool>(storage_); }
  // Null if nothing was saved. Throws Error if the elements have been changed since.
  const real* data() const;
  const Shape& shape() const { return shape_; }

 private:
  Handle<Storage> storage_;
  Shape shape_;
  uint32_t version_ = 0;
};

inline bool wants_gradient(const Tensor& x) { return x && x.requires_grad() && scope().gradients; }

// x, kept for backward if any of the tensors it serves wants a gradient; nothing otherwise.
template <class... Tensors>
Saved saved(const Tensor& x, const Tensors&... served) {
  return (wants_gradient(served) || ...) ? Saved(x) : Saved();
}

// How one tensor was made. One block of the pool: this head, the inputs' slots, the closure.
struct Node {
  const char* name;
  uint64_t order;  // counts up: later nodes are newer
  Shape shape;     // of the result
  Precision precision;
  bool queued = false;
  int input_count;
  Slot** inputs;  // null where no gradient is wanted
  void* closure;
  void (*run)(void* closure, Backward& g);
  void (*end)(void* closure);
};

namespace detail {
Node* allocate_node(const char* name, const Shape& shape, std::span<const Tensor> inputs,
                    size_t closure_bytes);
void attach(const Tensor& y, Node* node);
bool any_wants_gradient(std::span<const Tensor> inputs);
void check_finite(const char* name, const Tensor& y, std::span<const Tensor> inputs);
}  // namespace detail

// Says how y was made; returns y. Inputs may be empty handles. Nothing is recorded where no input
// wants a gradient. Inside a scope with detect_anomaly, throws Error if y holds a NaN, or an
// infinity that the inputs did not.
template <class Closure>
Tensor record(const char* name, const Tensor& y, std::span<const Tensor> inputs, Closure closure) {
  if (scope().detect_anomaly) detail::check_finite(name, y, inputs);
  Node* node = nullptr;
  if (detail::any_wants_gradient(inputs)) {
    node = detail::allocate_node(name, y.shape(), inputs, sizeof(Closure));
    static_assert(alignof(Closure) <= alignof(std::max_align_t));
    new (node->closure) Closure(std::move(closure));
    node->run = [](void* c, Backward& g) { (*static_cast<Closure*>(c))(g); };
    node->end = [](void* c) { static_cast<Closure*>(c)->~Closure(); };
    detail::attach(y, node);
  }
  if (Observer* const watching = observer()) [[unlikely]]
    watching->op_finished(name, y, inputs, node);
  return y;
}
template <class Closure>
Tensor record(const char* name, const Tensor& y, std::initializer_list<Tensor> inputs,
              Closure closure) {
  return record(name, y, std::span<const Tensor>(inputs.begin(), inputs.size()),
                std::move(closure));
}

// Adds ∂loss/∂leaf to every leaf that wants one, and releases the graph. `loss` has one element.
// Throws Error if the graph was released before, or if a number that it saved has been changed.
void backward(const Tensor& loss);
// The same from any tensor, given ∂loss/∂y in y's shape.
void backward(const Tensor& y, const Tensor& cotangent);

}  // namespace heed::inline HEED_REAL
