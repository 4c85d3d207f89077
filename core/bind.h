// Tensors whose elements and gradients are parts of larger arrays, such as the arena of an
// optimizer.
#pragma once

#include "core/tensor.h"

namespace heed::inline HEED_REAL {

// Returns elements [first, first + size) of `owner` as a storage.
Handle<Storage> part_of(const Handle<Storage>& owner, int64_t first, int64_t size);

// Returns an array as a storage that does not own it. The array must outlive it. Its count is its
// own: threads that use the array at once do not slow one another down.
Handle<Storage> borrow(real* data, int64_t size);

// Moves the elements of a leaf to `elements`, unless they are there already, and its gradient to
// `gradient`, which clear_grad() then keeps.
void bind_leaf(const Tensor& leaf, Handle<Storage> elements, Handle<Storage> gradient);

// Counts a modification of a leaf's elements that was made through `elements`.
void count_modification(const Tensor& leaf);

}  // namespace heed::inline HEED_REAL
