// Arrays in the layout of an arena that a process keeps between steps: the moments of an optimizer,
// an average of the weights. With ranks, each has only its slice of them (Arena::own).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "optim/arena.h"

namespace heed::inline HEED_REAL {

// Optimizer and WeightAverage keep theirs in it. Clients do not need it.
class ArenaState {
 public:
  // Arrays of these names, filled with zeros. The arena must outlive them.
  ArenaState(const Arena& arena, std::vector<std::string> names);

  size_t size() const { return arrays_.size(); }
  // The elements of array i from element `first` of the arena on, which is in own().
  real* at(size_t i, int64_t first) const {
    return arrays_[i]->data + (first - arena_.own().first);
  }

  // Returns the tensors of all arrays, named array.parameter. Without ranks they share memory with
  // the arrays. With ranks, all must call it; rank 0 gets copies and the others get nothing.
  std::vector<NamedParameter> tensors() const;
  // Copies such tensors back; with ranks, those of rank 0. Throws InputError that starts with
  // `what`, and changes nothing, unless names and shapes are exactly those of tensors().
  void load(std::span<const NamedParameter> saved, const char* what);

 private:
  std::vector<Handle<Storage>> whole_arrays() const;
  void copy(const std::vector<Handle<Storage>>& whole, bool to_whole) const;
  std::vector<NamedParameter> tensors_of(const std::vector<Handle<Storage>>& arrays) const;

  const Arena& arena_;
  std::vector<std::string> names_;
  std::vector<Handle<Storage>> arrays_;
};

}  // namespace heed::inline HEED_REAL
