// The parameters of a model in one flat array and their gradients in another, so that an optimizer
// is a loop over plain numbers.
//
// Places are in the order of the names, each aligned to 64 bytes; the padding between them is zero
// and stays zero. Parameters that want no gradient stay out; a tied tensor has one place, under the
// first of its names that is given.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "core/parallel.h"
#include "core/parameter.h"

namespace heed::inline HEED_REAL {

class Arena {
 public:
  static constexpr int64_t line = 64 / sizeof(real);  // numbers of a cache line

  // Moves the parameters here (Tensor::bind): handles to them stay good, views of them (reshape)
  // made before do not follow. Throws InputError when no parameter wants a gradient; Error when two
  // have the same name, or share a gradient without being the same tensor.
  explicit Arena(std::vector<NamedParameter> parameters);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  int64_t size() const { return gradients_->size; }  // with the padding
  real* numbers() const { return numbers_->data; }
  const real* gradients() const { return gradients_->data; }

  // Forgets every gradient: the next one to arrive overwrites. Writes no numbers.
  void zero_grad();
  // Fills the gradients that nothing was written to since with zeros. Throws Error if a parameter
  // has been frozen or moved out of the arena.
  void complete_gradients();
  // Counts a change of every parameter, so that a backward through a graph made before is refused.
  void count_change();

  // A further array in the same layout, filled with zeros: a moment of an optimizer.
  Handle<Storage> similar() const;
  // Such an array as the tensors it consists of, named prefix.parameter, sharing its numbers.
  std::vector<NamedParameter> tensors(const std::string& prefix,
                                      const Handle<Storage>& array) const;

  // Calls f(first, last, matrix) on consecutive ranges of whole lines, in parallel, in chunks that
  // the layout alone decides; `matrix` says whether they belong to tensors of rank ≥ 2.
  template <class F>
  void for_each_range(F&& f) const {
    parallel_for(size(), chunk, [&](int64_t first, int64_t last) {
      auto run = std::upper_bound(runs_.begin(), runs_.end(), first,
                                  [](int64_t at, const Run& r) { return at < r.end; });
      for (; first < last; first = std::min(last, run->end), ++run)
        f(first, std::min(last, run->end), run->matrix);
    });
  }
  // Asks for the line that a loop over x will come to in a while: where several arrays are read at
  // once the processor alone foresees too little. (bench/kernels measures AdamW's step against the
  // memory's rate.)
  static void fetch_ahead(const real* x) { __builtin_prefetch(x + 16 * line); }

  // Σ g² over all gradients, in double and in an order that the layout alone decides.
  double sum_of_squared_gradients();

 private:
  static constexpr int64_t chunk = 8192;  // numbers a thread takes at a time: whole lines
  struct Place {
    NamedParameter parameter;
    int64_t first;
  };
  struct Run {  // neighbours that are all matrices, or all not
    int64_t end;
    bool matrix;
  };

  std::vector<Place> places_;
  std::vector<Run> runs_;
  Handle<Storage> numbers_, gradients_;
  std::vector<double> chunk_sums_;
};

}  // namespace heed::inline HEED_REAL
