// What a training announces before its first step if it takes much memory or time, or has very long
// batches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/cost/summary.h"

namespace heed {

// The sizes of micro-batches: examples times the longest source and the longest input, in
// positions.
struct BatchPositions {
  int64_t longest = 0;  // of a batch that has the longest sequences of the data
  int64_t median = 0;   // of the first batches of the training, at most 100
  // FLOPs of a training step of these: 6 for each parameter and position, and 12 D for each layer,
  // position and position that it attends to (Kaplan et al. 2020, table 1).
  double mean_flops = 0;     // of each batch
  double first_flops = 0;    // of each batch of the first step
  double longest_flops = 0;  // of the longest batch
};
BatchPositions batch_positions(const Experiment& experiment, const Corpus& corpus,
                               int64_t parameters);

// Returns what a user may not expect of these settings, a line of text each: a batch larger than
// the training split, and a warm-up that does not end.
std::vector<std::string> setting_notices(const Experiment& experiment, const Corpus& corpus);

// Returns what happens to the learning rate of a run of `step` steps that is resumed with a larger
// train.steps, where its schedule ends, and how to keep it, as a line of text. "" if it stays.
std::string longer_schedule_notice(const Experiment& before, const Experiment& now, int64_t step);

// Returns the longest batch and the peak of the memory as a line of text, if the peak is above half
// of the memory that is left, or the longest batch has more than ten times the positions of the
// median one, or more than slow_flops. Returns "" otherwise.
std::string size_notice(const Summary& summary, const BatchPositions& positions);

// FLOPs that take a few cores about ten seconds.
inline constexpr double slow_flops = 1e12;

struct FirstStep {
  double seconds = 0;
  int64_t longest = 0;  // tokens that were measured of a sequence; 0: all
};
// Measures the first step of a training, by a Trainer of its own. If it has more than slow_flops,
// measures it with shorter sequences, and takes the time to be in proportion to the FLOPs.
FirstStep first_step(const Experiment& experiment, const Corpus& corpus, int64_t parameters,
                     const BatchPositions& positions);

// Returns about how long that many steps take, as a line of text: the time of a step is taken to be
// in proportion to its FLOPs.
std::string time_notice(const FirstStep& first, const BatchPositions& positions, int64_t steps);

}  // namespace heed
