#include "optim/average.h"

#include <fmt/core.h>

#include <algorithm>

#include "optim/kernels/kernels.h"

namespace heed::inline HEED_REAL {

WeightAverage::WeightAverage(Arena& arena, const AverageOptions& options)
    : arena_(arena), options_(options) {
  check(options.ema == 0 || options.snapshots == 1, "average: both kinds of averages are set");
  const int64_t arrays = options.snapshots > 1 ? options.snapshots : options.ema > 0 ? 1 : 0;
  for (int64_t i = 0; i < arrays; ++i) arrays_.push_back(arena.similar());
}

// The snapshots are a ring. The one of the interval that `step` ends or is in replaces the oldest.
real* WeightAverage::snapshot(int64_t step) const {
  return arrays_[static_cast<size_t>((step - 1) / options_.every % options_.snapshots)]->data;
}

void WeightAverage::update(int64_t step) {
  if (arrays_.empty() || (options_.ema == 0 && step % options_.every != 0)) return;
  real* const array = options_.ema > 0 ? arrays_[0]->data : snapshot(step);
  const real* const weights = arena_.parameters();
  const bool copies = options_.ema == 0 || step == 1;
  arena_.for_each_range([=, decay = options_.ema](int64_t first, int64_t last, bool) {
    if (copies)
      std::copy(weights + first, weights + last, array + first);
    else
      kernels::ema_step(last - first, decay, weights + first, array + first);
  });
}

void WeightAverage::apply(int64_t step) {
  if (arrays_.empty()) return;
  real* const weights = arena_.parameters();
  if (options_.ema > 0) return restore(step);
  real* const present = snapshot(step);
  std::vector<real*> arrays;
  for (int64_t i = 0; i < std::min((step - 1) / options_.every + 1, options_.snapshots); ++i)
    arrays.push_back(arrays_[static_cast<size_t>(i)]->data);
  arena_.for_each_range([&, weights, present](int64_t first, int64_t last, bool) {
    std::copy(weights + first, weights + last, present + first);
    kernels::mean_of(first, last, arrays, weights);
  });
  arena_.count_change();
}

void WeightAverage::restore(int64_t step) {
  if (arrays_.empty()) return;
  real* const weights = arena_.parameters();
  const bool swaps = options_.ema > 0;
  real* const array = swaps ? arrays_[0]->data : snapshot(step);
  arena_.for_each_range([=](int64_t first, int64_t last, bool) {
    if (swaps)
      std::swap_ranges(weights + first, weights + last, array + first);
    else
      std::copy(array + first, array + last, weights + first);
  });
  arena_.count_change();
}

std::vector<NamedParameter> WeightAverage::state() const {
  std::vector<NamedParameter> all;
  for (size_t i = 0; i < arrays_.size(); ++i)
    for (NamedParameter& tensor :
         arena_.tensors(options_.ema > 0 ? "trained" : fmt::format("snapshot.{}", i), arrays_[i]))
      all.push_back(std::move(tensor));
  return all;
}

}  // namespace heed::inline HEED_REAL
