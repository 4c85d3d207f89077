// Holds the parameters of a model in one flat array and their gradients in another, so that an
// optimizer is a loop over arrays.
//
// Tensors are ordered by name and aligned to 64 bytes. The padding between them is and stays zero.
// Parameters that do not require a gradient stay out. A tied tensor is stored once, under the first
// of its names in the list.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/parallel_for.h"
#include "core/tensor.h"
#include "optim/rank_slices.h"

namespace heed::inline HEED_REAL {

// The parameters and gradients of a model, each as one array. Clients do not need it: an Optimizer
// makes its own (optim/layout.h).
class Arena {
 public:
  static constexpr int64_t line = 64 / sizeof(real);  // elements of a cache line

  // Moves the parameters here (Tensor::bind). Handles to them stay valid; views (reshape) made
  // before do not follow. Throws Error if two have the same name, or share a gradient
  // without being the same tensor.
  explicit Arena(std::vector<NamedParameter> parameters);
  // The parameters of a second instance of a model, which then has the elements of the first, whose
  // arena outlives this one, and gradients of its own. Two threads can compute with the instances
  // at once. Throws Error unless the names and shapes are the same.
  Arena(const Arena& first, std::vector<NamedParameter> parameters);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  int64_t size() const { return gradients_->size; }  // elements, with the padding
  real* parameters() const { return parameters_->data; }
  real* gradients() const { return gradients_->data; }

  // Marks every gradient as empty, so that the next write overwrites it. Writes no elements.
  void zero_grad();
  // Fills the gradients that are still empty with zeros. Throws Error if a parameter has been
  // frozen or moved out of the arena.
  void complete_gradients();
  // Counts a change of every parameter, so that a backward through an older graph throws.
  void count_change();

  // The elements that this process updates: all, or the slice of its rank.
  ElementRange own() const { return slices_.own(); }
  // Replaces the gradients in own() by their sums over the ranks.
  void sum_gradients() { slices_.sum(gradients()); }
  // Computes backward(loss), the last of a step, before complete_gradients() and sum_gradients().
  // With ranks, and without an observer, it begins to sum gradients over them as soon as they are
  // final, while it computes others. All parameters of the loss that require a gradient must be in
  // the arena, and nothing may be added to their gradients afterwards. Throws LostRank, and as
  // backward().
  void last_backward(const Tensor& loss);
  // Fills in the parameters, or the sums of gradients, that other ranks have in their slices.
  void gather_parameters() { slices_.gather(parameters()); }
  void gather_gradients() { slices_.gather(gradients()); }
  const RankSlices& slices() const { return slices_; }

  // Returns another array in the same layout, filled with zeros.
  Handle<Storage> similar() const { return zeros(size()); }
  static Handle<Storage> zeros(int64_t size);
  // Returns the tensors of such an array, named prefix.parameter. They share its memory.
  std::vector<NamedParameter> tensors(const std::string& prefix,
                                      const Handle<Storage>& array) const;

  // Calls f(first, last, matrix) on consecutive ranges of whole cache lines of all elements, or of
  // own(), in parallel. The ranges depend only on the layout. `matrix` is true for tensors of
  // rank ≥ 2.
  template <class F>
  void for_each_range(F&& f) const {
    for_each_range_in({0, size()}, f);
  }
  template <class F>
  void for_each_own_range(F&& f) const {
    for_each_range_in(own(), f);
  }
  // Prefetches the cache line that a loop over x reaches 16 lines later. The processor prefetches
  // too little where a loop reads several arrays. (bench/kernels compares AdamW's step with the
  // memory bandwidth.)
  static void fetch_ahead(const real* x) { __builtin_prefetch(x + 16 * line); }

  // Returns Σ g² over all gradients, in double, where ranks have their sums in own(). The order of
  // summation depends only on the layout.
  double sum_of_squared_gradients();

 private:
  class FinalGradients;
  template <class F>
  void for_each_range_in(ElementRange range, F&& f) const {
    parallel_for(range.size(), chunk, [&](int64_t begin, int64_t end) {
      int64_t first = range.first + begin;
      const int64_t last = range.first + end;
      auto part = std::upper_bound(stretches_.begin(), stretches_.end(), first,
                                   [](int64_t i, const Stretch& r) { return i < r.end; });
      for (; first < last; first = std::min(last, part->end), ++part)
        f(first, std::min(last, part->end), part->matrix);
    });
  }
  // Lays the tensors out. Returns the size of the arrays.
  int64_t arrange(std::vector<NamedParameter> parameters);
  // Moves the tensors to the arrays.
  void bind();
  static constexpr int64_t chunk = 8192;  // elements a thread takes at a time: whole lines
  struct Placed {
    NamedParameter parameter;
    int64_t first;
  };
  struct Stretch {  // consecutive tensors that are all matrices, or all not
    int64_t end;
    bool matrix;
  };

  std::vector<Placed> placed_;
  std::vector<Stretch> stretches_;
  Handle<Storage> parameters_, gradients_;
  RankSlices slices_;
  std::vector<double> chunk_sums_;
};

}  // namespace heed::inline HEED_REAL
