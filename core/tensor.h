// Tensors: dense, row-major arrays of `real` that can remember how they were made.
//
// A Tensor is a counted handle; copying it copies no numbers. Three things stand behind it:
//
//   Tensor ──> TensorBody ──> Storage   the numbers, with a version that counts changes
//                      └────> Slot      the gradient, if anyone wants one, and the Node that made
//                      it
//
// Nodes point to the *slots* of their inputs, not to their numbers: what backward reads is what its
// closure saved, so an intermediate result is freed as early as it can be. See core/autograd.h.
#pragma once

#include <initializer_list>
#include <span>

#include "core/counted.h"
#include "core/shape.h"

namespace heed::inline HEED_REAL {

struct Node;

// Numbers. Those of a parameter in an arena belong to the arena's storage.
struct Storage : Counted {
  real* data = nullptr;
  int64_t size = 0;
  uint32_t version = 0;
  Handle<Storage> owner;  // whose memory it is; empty: its own

  static Handle<Storage> allocate(int64_t size);
  // Numbers [first, first + size) of `owner`.
  static Handle<Storage> part_of(const Handle<Storage>& owner, int64_t first, int64_t size);
  static void destroy(Storage* storage);
};

// Where the gradient of a tensor gathers.
struct Slot : Counted {
  int64_t size = 0;
  Node* producer = nullptr;  // owned; null for a leaf, or once the producer has run
  bool released = false;     // the producer has run: there is no second backward
  bool written = false;      // `gradient` holds a value; the next one is added
  bool bound = false;        // `gradient` is a place of its own that outlives every backward
  Handle<Storage> gradient;

  static Handle<Slot> create(int64_t size);
  static void destroy(Slot* slot);  // with a stack of its own: a graph may be a million nodes deep
};

struct TensorBody : Counted {
  Shape shape;
  Handle<Storage> storage;
  Handle<Slot> slot;
  static void destroy(TensorBody* body);
};

class Tensor {
 public:
  Tensor() = default;  // no tensor: bool(x) is false

  static Tensor empty(const Shape& shape);  // contents undefined
  static Tensor zeros(const Shape& shape) { return full(shape, 0); }
  static Tensor full(const Shape& shape, real value);
  static Tensor scalar(real value) { return full(Shape{}, value); }
  // Throws Error unless shape.size() values are given.
  static Tensor from(const Shape& shape, std::span<const real> values);
  static Tensor from(const Shape& shape, std::initializer_list<real> values) {
    return from(shape, std::span<const real>(values.begin(), values.size()));
  }

  explicit operator bool() const { return static_cast<bool>(body_); }
  // All below throw Error on a handle without a tensor.
  const Shape& shape() const { return body().shape; }
  int rank() const { return shape().rank(); }
  int64_t dim(int axis) const { return shape()[axis]; }  // negative axes count from the end
  int64_t size() const { return shape().size(); }

  const real* data() const { return body().storage->data; }
  // To write: counts as a change, which a backward that saved the old numbers will notice.
  real* mutable_data();
  std::span<const real> values() const& { return {data(), static_cast<size_t>(size())}; }
  std::span<const real> values() const&& = delete;  // the numbers may die with the handle
  real item() const;  // the number of a tensor that has one; throws Error otherwise

  bool requires_grad() const { return static_cast<bool>(body().slot); }
  // Makes a leaf gather its gradient (or stop). Throws Error for the result of an operation.
  Tensor& set_requires_grad(bool wanted = true);
  // The gradient gathered so far, as a tensor of this shape that shares its numbers; no tensor when
  // nothing has arrived. Results of operations keep theirs only until backward has passed them.
  Tensor grad() const;
  void clear_grad();
  // The same numbers, without the memory of how they were made.
  Tensor detach() const;
  // The same numbers and the same gradient in another shape of as many elements.
  Tensor reshape(const Shape& shape) const;
  Tensor clone() const;  // a copy of the numbers; not differentiable

  // Moves the numbers of a leaf into `numbers` and its gradient to `gradient` (arenas of optim).
  void bind(Handle<Storage> numbers, Handle<Storage> gradient);

  TensorBody& body() const;
  const Handle<Slot>& slot() const { return body().slot; }
  const Handle<Storage>& storage() const { return body().storage; }
  bool same_as(const Tensor& other) const { return body_ == other.body_; }

 private:
  explicit Tensor(TensorBody* body) : body_(body) {}
  static Tensor make(const Shape& shape, Handle<Storage> storage, Handle<Slot> slot = {});

  Handle<TensorBody> body_;
};

}  // namespace heed::inline HEED_REAL
