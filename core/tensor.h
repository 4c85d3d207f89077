// Tensors: dense, row-major arrays of `real` that can record how they were computed.
//
// A Tensor is a counted handle; copying it copies no elements. It refers to three objects:
//
// clang-format off
//   Tensor ──> TensorBody ──> Storage   the elements, with a version that counts modifications
//                        └──> Slot      the gradient, if one is required, and the Node that
//                                       computed the tensor
// clang-format on
//
// Nodes refer to the *slots* of their inputs, not to their elements. Backward reads only what its
// closure saved, so an intermediate result is freed as early as possible. See core/autograd.h.
//
// Threads: const functions of one Run, Model, Module or Tensor may be called from any number of
// threads at once, and each returns the bits that it returns alone. Operations (core/ops.h) are
// const functions of their inputs. Functions that change something need a lock of the caller's:
// mutable_data() and what is written there, an optimizer, backward() for the graph that it runs and
// the gradients that it adds to.
#pragma once

#include <initializer_list>
#include <iterator>
#include <span>
#include <string>

#include "core/counted.h"
#include "core/lazy.h"
#include "core/scope.h"
#include "core/shape.h"

namespace heed::inline HEED_REAL {

struct Node;

// The elements of a tensor. Those of a parameter in an arena are a part of the arena's storage.
struct Storage : Counted {
  real* data = nullptr;
  int64_t size = 0;
  uint32_t version = 0;
  Handle<Storage> owner;  // of the memory; empty if this storage owns it

  static Handle<Storage> allocate(int64_t size);
  // Elements [first, first + size) of `owner`.
  static Handle<Storage> part_of(const Handle<Storage>& owner, int64_t first, int64_t size);
  // An array that this storage does not own, and that outlives it. Its count is its own: threads
  // that use the array at once do not slow one another down.
  static Handle<Storage> borrow(real* data, int64_t size);
  static void destroy(Storage* storage);
};

// The elements as panels of bfloat16, which all layers that read the tensor keep for backward
// (core/ops/linear.cpp).
struct PackedCopy {
  Handle<Storage> panels;
  int64_t rows_in_part = 0;
  uint32_t version = 0;  // of the elements
  explicit operator bool() const { return static_cast<bool>(panels); }
};

// Accumulates the gradient of a tensor.
struct Slot : Counted {
  int64_t size = 0;
  Node* producer = nullptr;  // owned; null for a leaf, and after the producer has run
  bool released = false;     // the producer has run, so a second backward is an error
  bool written = false;      // `gradient` holds a value; the next one is added
  bool bound = false;        // `gradient` belongs to an arena and outlives every backward
  Handle<Storage> gradient;

  static Handle<Slot> create(int64_t size);
  static void destroy(Slot* slot);  // not recursive, because a graph may be a million nodes deep
};

struct TensorBody : Counted {
  Shape shape;
  Handle<Storage> storage;
  Handle<Slot> slot;
  Lazy<PackedCopy> packed;
  static void destroy(TensorBody* body);
};

class Tensor {
 public:
  Tensor() = default;  // an empty handle: bool(x) is false

  static Tensor empty(const Shape& shape);  // contents undefined
  static Tensor zeros(const Shape& shape) { return full(shape, 0); }
  static Tensor full(const Shape& shape, real value);
  static Tensor scalar(real value) { return full(Shape{}, value); }
  // Copies values of any arithmetic type, in row-major order, from a list or a container. Throws
  // Error unless there are shape.size() of them.
  template <class Values>
  static Tensor from(const Shape& shape, const Values& values) {
    check_count(shape, static_cast<int64_t>(std::size(values)));
    Tensor tensor = empty(shape);
    real* to = tensor.mutable_data();
    if (scope().shapes_only) return tensor;
    for (const auto& value : values) *to++ = static_cast<real>(value);
    return tensor;
  }
  template <class Number>
  static Tensor from(const Shape& shape, std::initializer_list<Number> values) {
    return from<std::initializer_list<Number>>(shape, values);
  }
  static Tensor from(const Shape& shape, std::initializer_list<real> values) {
    return from<std::initializer_list<real>>(shape, values);
  }

  explicit operator bool() const { return static_cast<bool>(body_); }
  // The functions below throw Error on an empty handle.
  const Shape& shape() const { return body().shape; }
  int rank() const { return shape().rank(); }
  int64_t dim(int axis) const { return shape()[axis]; }  // negative axes count from the end
  int64_t size() const { return shape().size(); }

  const real* data() const { return body().storage->data; }
  // For writing. Counts as a modification: a backward that saved the elements throws.
  real* mutable_data();
  std::span<const real> values() const& { return {data(), static_cast<size_t>(size())}; }
  std::span<const real> values() const&& = delete;  // the handle may own the last reference
  real item() const;  // the value of a tensor with one element; throws Error otherwise

  bool requires_grad() const { return static_cast<bool>(body().slot); }
  // Sets whether a leaf accumulates its gradient. Throws Error for the result of an operation.
  Tensor& set_requires_grad(bool required = true);
  // Returns the gradient accumulated so far, as a tensor of this shape that shares its elements, or
  // an empty handle before the first. Results of operations keep theirs only until backward has
  // passed them.
  Tensor grad() const;
  void clear_grad();
  // The same elements, without their history.
  Tensor detach() const;
  // The same elements and the same gradient in another shape of equal size.
  Tensor reshape(const Shape& shape) const;
  Tensor clone() const;  // a copy of the elements; not differentiable

  // Moves the elements of a leaf to `elements`, unless they are there already, and its gradient to
  // `gradient` (arenas of optim).
  void bind(Handle<Storage> elements, Handle<Storage> gradient);

  TensorBody& body() const;
  const Handle<Slot>& slot() const { return body().slot; }
  const Handle<Storage>& storage() const { return body().storage; }
  bool same_as(const Tensor& other) const { return body_ == other.body_; }

 private:
  explicit Tensor(TensorBody* body) : body_(body) {}
  static Tensor make(const Shape& shape, Handle<Storage> storage, Handle<Slot> slot = {});
  static void check_count(const Shape& shape, int64_t count);

  Handle<TensorBody> body_;
};

// A tensor with a name. nn creates parameters as a vector of these; optim trains them, and
// checkpoints save and load them. The state of an optimizer is such a vector too.
struct NamedParameter {
  std::string name = {};  // as in a checkpoint: encoder.layers.0.attention.query.weight
  Tensor tensor = {};
};

}  // namespace heed::inline HEED_REAL
