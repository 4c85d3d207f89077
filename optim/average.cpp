#include "optim/average.h"

#include <fmt/core.h>

#include <algorithm>

#include "optim/kernels/more_kernels.h"
#include "optim/optimizer.h"

namespace heed::inline HEED_REAL {

static std::vector<std::string> names_of(const AverageOptions& options) {
  check_range("average", "ema", options.ema, ema_range);
  check_range("average", "snapshots", options.snapshots, snapshots_range);
  if (options.snapshots > 1) check_range("average", "every", options.every, at_least(1));
  check_input(options.ema == 0 || options.snapshots == 1,
              "average: both kinds of averages are set");
  if (options.snapshots == 1)
    return options.ema > 0 ? std::vector<std::string>{"trained"} : std::vector<std::string>();
  std::vector<std::string> names;
  for (int64_t i = 0; i < options.snapshots; ++i) names.push_back(fmt::format("snapshot.{}", i));
  return names;
}

WeightAverage::WeightAverage(Arena& arena, const AverageOptions& options)
    : arena_(arena), options_(options), arrays_(arena, names_of(options)) {}

// The snapshots are a ring. The one of the interval that `step` ends or is in replaces the oldest.
size_t WeightAverage::snapshot(int64_t step) const {
  return static_cast<size_t>((step - 1) / options_.every % options_.snapshots);
}

void WeightAverage::update(int64_t step) {
  if (arrays_.size() == 0 || (options_.ema == 0 && step % options_.every != 0)) return;
  const size_t array = options_.ema > 0 ? 0 : snapshot(step);
  const bool copies = options_.ema == 0 || step == 1;
  arena_.for_each_own_range([&](int64_t first, int64_t last, bool) {
    const real* const weights = arena_.parameters() + first;
    if (copies)
      std::copy_n(weights, last - first, arrays_.at(array, first));
    else
      kernels::ema_step(last - first, options_.ema, weights, arrays_.at(array, first));
  });
}

void WeightAverage::apply(int64_t step) {
  if (arrays_.size() == 0) return;
  if (options_.ema > 0) return restore(step);
  const size_t present = snapshot(step);
  const auto count =
      static_cast<size_t>(std::min((step - 1) / options_.every + 1, options_.snapshots));
  arena_.for_each_own_range([&](int64_t first, int64_t last, bool) {
    real* const weights = arena_.parameters() + first;
    std::copy_n(weights, last - first, arrays_.at(present, first));
    std::vector<const real*> arrays;
    for (size_t i = 0; i < count; ++i) arrays.push_back(arrays_.at(i, first));
    kernels::mean_of(last - first, arrays, weights);
  });
  arena_.gather_parameters();
  arena_.count_change();
}

void WeightAverage::restore(int64_t step) {
  if (arrays_.size() == 0) return;
  const bool swaps = options_.ema > 0;
  const size_t array = swaps ? 0 : snapshot(step);
  arena_.for_each_own_range([&](int64_t first, int64_t last, bool) {
    real* const weights = arena_.parameters() + first;
    real* const kept = arrays_.at(array, first);
    if (swaps)
      std::swap_ranges(weights, weights + (last - first), kept);
    else
      std::copy_n(kept, last - first, weights);
  });
  arena_.gather_parameters();
  arena_.count_change();
}

}  // namespace heed::inline HEED_REAL
