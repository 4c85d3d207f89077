// A tensor is numbers, a shape, and the memory of how it was computed.
//
// The elements are dense and row-major. A Tensor is a counted handle to them; copying it copies no
// elements. It refers to three objects:
//
// clang-format off
//   Tensor ──► TensorBody ──► Storage   the elements, with a version that counts modifications
//                        └──► Slot      the gradient, if one is required, and the Node that
//                                       computed the tensor
// clang-format on
//
// Nodes refer to the *slots* of their inputs, not to their elements. Backward reads only what its
// closure saved, so an intermediate result is freed as early as possible. See core/autograd.h.
//
// Threads: any number of threads may call const functions of one tensor at once, and use it as an
// input of operations. The bits of the results do not change. Call functions that change something
// under a lock of your own: mutable_data() and what is written there, and backward(), which changes
// the graph that it runs and the gradients that it adds to.
#pragma once

#include <initializer_list>
#include <iterator>
#include <span>
#include <string>

#include "core/counted.h"
#include "core/scope.h"
#include "core/shape.h"

namespace heed::inline HEED_REAL {

struct TensorBody;
struct Storage;
struct Slot;
struct Node;

class Tensor {
 public:
  Tensor() = default;  // an empty handle: bool(x) is false

  static Tensor empty(const Shape& shape);             // contents undefined
  static Tensor zeros(const Shape& shape);             // all elements 0
  static Tensor full(const Shape& shape, real value);  // all elements equal
  static Tensor scalar(real value);                    // shape []
  // Copies values of any arithmetic type, in row-major order, from a list or a container. Throws
  // Error unless there are shape.size() of them. A braced list does not deduce `Values`, so it has
  // two overloads: one for values of one type, one for a mixture such as {1, 0.5}.
  template <class Values>
  static Tensor from(const Shape& shape, const Values& values);
  template <class Number>
  static Tensor from(const Shape& shape, std::initializer_list<Number> values) {
    return from<std::initializer_list<Number>>(shape, values);
  }
  static Tensor from(const Shape& shape, std::initializer_list<real> values);

  explicit operator bool() const { return static_cast<bool>(body_); }
  // The lengths of the axes. This and all functions below throw Error on an empty handle.
  const Shape& shape() const;
  int rank() const { return shape().rank(); }            // number of axes
  int64_t dim(int axis) const { return shape()[axis]; }  // negative axes count from the end
  int64_t size() const { return shape().size(); }        // number of elements

  const real* data() const;  // the elements, row-major
  // data() as a span, for loops.
  std::span<const real> values() const& { return {data(), static_cast<size_t>(size())}; }
  std::span<const real> values() const&& = delete;  // the handle may own the last reference
  real item() const;  // the value of a tensor with one element; throws Error otherwise
  // Returns the elements for writing. A backward that saved them throws, since they may change.
  real* mutable_data();

  bool requires_grad() const;  // backward() computes its gradient
  // Sets whether a leaf accumulates its gradient: a tensor that no operation computed. Throws Error
  // for the result of an operation.
  Tensor& set_requires_grad(bool required = true);
  // Returns the gradient accumulated so far, as a tensor of this shape that shares its elements, or
  // an empty handle before the first. Results of operations keep theirs only until backward has
  // passed them.
  Tensor grad() const;
  void clear_grad();  // grad() is empty again
  // The same elements, without their history.
  Tensor detach() const;
  // The same elements and the same gradient in another shape of equal size.
  Tensor reshape(const Shape& shape) const;
  Tensor clone() const;  // a copy of the elements; not differentiable

  TensorBody& body() const;                // what copies of this handle share; see below
  const Handle<Slot>& slot() const;        // empty unless requires_grad()
  const Handle<Storage>& storage() const;  // of the elements
  bool same_as(const Tensor& other) const { return body_ == other.body_; }  // a copy of a handle

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
  Tensor tensor = {};     // a leaf, or an array of an optimizer
};

// ---- what a tensor refers to

// The elements of a tensor. Clients do not need it: see Tensor::values().
struct Storage : Counted {
  real* data = nullptr;   // the first element
  int64_t size = 0;       // elements
  uint32_t version = 0;   // counts modifications
  Handle<Storage> owner;  // of the memory, if another storage owns it

  static Handle<Storage> allocate(int64_t size);
  static void destroy(Storage* storage);
};

// Accumulates the gradient of a tensor. Clients do not need it: see Tensor::grad().
struct Slot : Counted {
  int64_t size = 0;
  Node* producer = nullptr;  // owned; null for a leaf, and after the producer has run
  bool released = false;     // the producer has run, so a second backward is an error
  bool written = false;      // `gradient` holds a value; the next one is added
  bool bound = false;        // `gradient` is a part of a larger array, and clear_grad() keeps it
  Handle<Storage> gradient;

  static Handle<Slot> create(int64_t size);
  static void destroy(Slot* slot);  // not recursive, because a graph may be a million nodes deep
};

// What the copies of a Tensor share. Clients do not need it.
struct TensorBody : Counted {
  Shape shape;
  Handle<Storage> storage;
  Handle<Slot> slot;
  static void destroy(TensorBody* body);
};

inline const Shape& Tensor::shape() const { return body().shape; }
inline const real* Tensor::data() const { return body().storage->data; }
inline bool Tensor::requires_grad() const { return static_cast<bool>(body().slot); }
inline const Handle<Slot>& Tensor::slot() const { return body().slot; }
inline const Handle<Storage>& Tensor::storage() const { return body().storage; }

template <class Values>
Tensor Tensor::from(const Shape& shape, const Values& values) {
  check_count(shape, static_cast<int64_t>(std::size(values)));
  Tensor tensor = empty(shape);
  real* to = tensor.mutable_data();
  if (scope().shapes_only) return tensor;  // has no elements: see core/scope.h
  for (const auto& value : values) *to++ = static_cast<real>(value);
  return tensor;
}

}  // namespace heed::inline HEED_REAL
