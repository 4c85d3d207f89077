// Averages of the weights over training, which generalise better than the last ones.
//
//   ema                 ā ← decay · ā + (1 - decay) · w after each step; ā = w after the first
//                       (Polyak & Juditsky 1992; PyTorch: AveragedModel with get_ema_multi_avg_fn)
//   mean of snapshots   ā = the mean of the present weights and of the last n - 1 snapshots, which
//                       are taken every `every` steps: the mean of the last n checkpoints (Vaswani
//                       et al. 2017, section 6.1; fairseq: average_checkpoints.py)
#pragma once

#include <span>
#include <vector>

#include "core/fields.h"
#include "optim/arena_state.h"

namespace heed::inline HEED_REAL {

inline constexpr Range ema_range{0, 0.999999};   // of AverageOptions::ema
inline constexpr Range snapshots_range{1, 100};  // of AverageOptions::snapshots

// Which average, if any.
struct AverageOptions {
  double ema = 0;         // decay; 0: none
  int64_t snapshots = 1;  // n; 1: none
  int64_t every = 1;      // steps between snapshots
};

// The average of the weights of an arena.
class WeightAverage {
 public:
  // Averages the parameters of the arena, which must outlive it. Without an average in the options
  // nothing is stored or computed. Throws InputError for values out of range, and for two kinds of
  // averages at once.
  WeightAverage(Arena& arena, const AverageOptions& options);

  // Takes the weights after a step into account. Steps count from 1.
  void update(int64_t step);
  // Replaces the parameters by their average after this step.
  void apply(int64_t step);
  // Brings back the trained parameters, after apply() of this step.
  void restore(int64_t step);

  // The arrays that restore the trained weights, and all later averages, from the averaged ones:
  // valid between apply() and restore(). As ArenaState::tensors() returns them.
  std::vector<NamedParameter> state() const { return arrays_.tensors(); }
  // Restores them. Throws InputError as ArenaState::load() does.
  void load_state(std::span<const NamedParameter> saved) { arrays_.load(saved, "average"); }

 private:
  size_t snapshot(int64_t step) const;

  Arena& arena_;
  AverageOptions options_;
  ArenaState arrays_;  // ā, or the trained weights while applied; the snapshots
};

}  // namespace heed::inline HEED_REAL
